# task: answer
# loses: answer-check
# hint: under_way is still empty
def answer(comm, W, worker, tag, under_way):
    comm.send(W, dest=worker, tag=tag)
