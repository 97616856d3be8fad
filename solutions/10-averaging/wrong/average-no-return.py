# task: average
# loses: average-check
# hint: average returned None
def average(ws, sizes):
    result = np.average(ws, axis=0, weights=sizes)
