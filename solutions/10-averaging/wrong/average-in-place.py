# task: average
# loses: average-check
# hint: which the caller still needs
def average(ws, sizes):
    ws *= np.array(sizes)[:, None]
    return ws.sum(axis=0) / sum(sizes)
