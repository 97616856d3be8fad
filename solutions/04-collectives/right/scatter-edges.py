# task: scatter
def scatter(comm, x, part, root=0):
    if comm.rank != root:
        comm.recv(part, source=root)
        return part
    small, more = divmod(len(x), comm.size)
    begin = 0
    for dest in range(comm.size):
        end = begin + small + (dest < more)
        if dest == comm.rank:
            part[:] = x[begin:end]
        else:
            comm.send(x[begin:end].copy(), dest=dest)
        begin = end
    return part
