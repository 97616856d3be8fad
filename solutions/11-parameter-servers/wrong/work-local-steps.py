# task: work
# loses: work-check
# hint: moves W by itself
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    while status.tag == GO_ON:
        step = gradient(W)
        W -= 0.5 * step
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
