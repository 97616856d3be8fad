# task: chunk-to-send
def chunk_to_send(rank, step, N):
    chunk = rank - step
    return chunk + N if chunk < 0 else chunk
