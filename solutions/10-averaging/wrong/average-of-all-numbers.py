# task: average
# loses: average-check
# hint: Average over the models, axis 0
def average(ws, sizes):
    return np.average(ws.mean(axis=1), weights=sizes)
