# task: answer
def answer(comm, W, worker, tag, under_way):
    comm.waitall([request for key, request in under_way.items() if key == worker])
    kept = W + 0.0
    under_way[worker] = comm.isend(kept, worker, tag)
