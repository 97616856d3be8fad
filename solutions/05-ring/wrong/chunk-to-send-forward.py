# task: chunk-to-send
# loses: chunk-to-send-check
# hint: In step 0 rank 1 received chunk 0
def chunk_to_send(rank, step, N):
    return (rank + step) % N
