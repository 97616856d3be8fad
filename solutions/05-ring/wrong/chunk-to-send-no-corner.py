# task: chunk-to-send
# loses: chunk-to-send-check
# hint: Go round the corner
def chunk_to_send(rank, step, N):
    return rank - step
