# task: average
# loses: average-check
# hint: the sizes are exchanged
def average(ws, sizes):
    return np.average(ws, axis=0, weights=sizes[::-1])
