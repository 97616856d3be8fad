# task: average
def average(ws, sizes):
    total = np.zeros(ws.shape[1:])
    for n, w in zip(sizes, ws, strict=True):
        total += n * w
    return total / sum(sizes)
