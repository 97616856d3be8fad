# task: answer
# loses: answer-check
# hint: the server stands still until
def answer(comm, W, worker, tag, under_way):
    if worker in under_way:
        under_way[worker].wait()
    under_way[worker] = comm.isend(W.copy(), dest=worker, tag=tag)
    under_way[worker].wait()
