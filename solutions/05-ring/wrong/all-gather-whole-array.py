# task: all-gather
# loses: all-gather-check
# hint: each message was the whole array
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        place = (comm.rank - step) % comm.size
        chunks[place][...] = np.array_split(comm.sendrecv(x, dest=right, recvbuf=room_for(x), source=left), comm.size)[
            place
        ]
    return x
