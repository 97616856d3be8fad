# task: average
# loses: average-check
# hint: keeps about 7 digits
def average(ws, sizes):
    return np.average(ws, axis=0, weights=sizes).astype(np.float32)
