# task: work
def work(comm, W, gradient):
    status, pushed = Status(), 0
    while True:
        comm.recv(W, source=0, status=status)
        if status.tag == STOP:
            return pushed
        comm.send(gradient(W), dest=0)
        pushed += 1
