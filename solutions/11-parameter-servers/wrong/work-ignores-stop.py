# task: work
# loses: work-check
# hint: line 5 of `work`
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    while True:
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
