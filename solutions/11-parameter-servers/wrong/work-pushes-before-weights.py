# task: work
# loses: work-check
# hint: line 8 of `serve_in_turn`
def work(comm, W, gradient):
    status, pushed = Status(), 0
    while status.tag != STOP:
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
