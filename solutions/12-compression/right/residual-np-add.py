# task: residual
def compress_and_keep(update, residual, compress):
    p = np.add(residual, update)
    delta = compress(p)
    kept = np.subtract(p, delta)
    return np.asarray(delta), kept
