# task: answer
def answer(comm, W, worker, tag, under_way):
    before = under_way.pop(worker, None)
    if before is not None:
        before.wait()
    under_way[worker] = comm.isend(np.array(W), dest=worker, tag=tag)
