# task: work
# loses: work-check
# hint: Rank 0 waits for a message from rank 1, which has returned
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    comm.send(gradient(W), dest=0)
    pushed += 1
    comm.recv(W, source=0, status=status)
    return pushed
