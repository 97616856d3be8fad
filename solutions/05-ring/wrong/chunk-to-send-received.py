# task: chunk-to-send
# loses: chunk-to-send-check
# hint: in step 0 rank r sends chunk r
def chunk_to_send(rank, step, N):
    return (rank - step - 1) % N
