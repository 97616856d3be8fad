# task: chunk-to-send
# loses: chunk-to-send-check
# hint: in turn
def chunk_to_send(rank, step, N):
    return (rank - step) % 4
