# task: all-gather
# loses: all-gather-check
# hint: all send and none of them receives
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        comm.send(chunks[(comm.rank + 1 - step) % comm.size], dest=right)
        comm.recv(chunks[(comm.rank - step) % comm.size], source=left)
    return x
