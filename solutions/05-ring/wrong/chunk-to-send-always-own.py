# task: chunk-to-send
# loses: chunk-to-send-check
# hint: the same chunk again
def chunk_to_send(rank, step, N):
    return rank
