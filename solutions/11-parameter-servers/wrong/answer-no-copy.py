# task: answer
# loses: answer-check
# hint: W was changed after the answer
def answer(comm, W, worker, tag, under_way):
    if worker in under_way:
        under_way[worker].wait()
    under_way[worker] = comm.isend(W, dest=worker, tag=tag)
