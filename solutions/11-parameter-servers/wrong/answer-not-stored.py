# task: answer
# loses: answer-check
# hint: without waiting for its isend
def answer(comm, W, worker, tag, under_way):
    if worker in under_way:
        under_way[worker].wait()
    request = comm.isend(W.copy(), dest=worker, tag=tag)
