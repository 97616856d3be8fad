# task: chunk-to-send
# loses: chunk-to-send-check
# hint: it sends 0 on
def chunk_to_send(rank, step, N):
    return (rank + step) % N
