# task: chunk-to-send
# loses: chunk-to-send-check
# hint: Take the remainder
def chunk_to_send(rank, step, N):
    return rank - step
