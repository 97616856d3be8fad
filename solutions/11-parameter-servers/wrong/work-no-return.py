# task: work
# loses: work-check
# hint: work returned None
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    while status.tag == GO_ON:
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
