# task: all-to-all
# loses: all-to-all-check
# hint: At each distance all ranks can send and receive at once
def all_to_all(comm, x):
    got = np.zeros_like(x)
    got[comm.rank] = x[comm.rank]
    for source in range(comm.size):
        for dest in range(comm.size):
            if source != dest and comm.rank == source:
                comm.send(x[dest], dest=dest)
            if source != dest and comm.rank == dest:
                comm.recv(got[source], source=source)
    return got
