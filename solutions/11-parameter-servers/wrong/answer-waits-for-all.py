# task: answer
# loses: answer-check
# hint: the server stands still until
def answer(comm, W, worker, tag, under_way):
    comm.waitall(under_way.values())
    under_way[worker] = comm.isend(W.copy(), dest=worker, tag=tag)
