# task: chunk-to-send
def chunk_to_send(rank, step, N):
    return (rank + N - step) % N
