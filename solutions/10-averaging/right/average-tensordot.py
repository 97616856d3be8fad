# task: average
def average(ws, sizes):
    shares = np.array(sizes) / np.sum(sizes)
    return np.tensordot(shares, ws, axes=1)
