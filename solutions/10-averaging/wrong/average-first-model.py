# task: average
# loses: average-check
# hint: Return a new array or a copy
def average(ws, sizes):
    total = ws[0]
    if len(ws) > 1:
        total = np.average(ws, axis=0, weights=sizes)
    return total
