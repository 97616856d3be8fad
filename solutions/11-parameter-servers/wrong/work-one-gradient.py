# task: work
# loses: work-check
# hint: rank 1 has returned
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    comm.send(gradient(W), dest=0)
    pushed += 1
    comm.recv(W, source=0, status=status)
    return pushed
