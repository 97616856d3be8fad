# task: work
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    while status.tag != STOP:
        comm.sendrecv(gradient(W), 0, recvbuf=W, source=0, status=status)
        pushed += 1
    return pushed
