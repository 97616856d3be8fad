# task: chunk-to-send
# loses: chunk-to-send-check
# hint: with 3 ranks
def chunk_to_send(rank, step, N):
    return (rank - step) % 4
