# task: average
# loses: average-check
# hint: as if both counted alike
def average(ws, sizes):
    return np.mean(ws, axis=0)
