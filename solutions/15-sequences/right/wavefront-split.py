# task: wavefront
def wavefront(comm, W, U, b, x, chunk):
    pieces = [x[k * chunk : (k + 1) * chunk] for k in range(-(-len(x) // chunk))]
    done, last = [], np.zeros(x.shape[1:])
    while pieces:
        piece = pieces.pop(0)
        if comm.rank != 0:
            fresh = np.zeros_like(piece)
            comm.recv(fresh, comm.rank - 1)
            piece = fresh
        done.extend(sequences.layer(comm, piece, W, U, b, last))
        last = done[-1]
        if comm.rank != comm.size - 1:
            comm.send(np.array(done[-len(piece) :]), comm.rank + 1)
    return np.array(done)
