# task: answer
# loses: answer-check
# hint: stored under the tags
def answer(comm, W, worker, tag, under_way):
    if tag in under_way:
        under_way[tag].wait()
    under_way[tag] = comm.isend(W.copy(), dest=worker, tag=tag)
