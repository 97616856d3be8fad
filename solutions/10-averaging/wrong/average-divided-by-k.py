# task: average
# loses: average-check
# hint: weighted sum divided by K
def average(ws, sizes):
    return sum(n * w for n, w in zip(sizes, ws, strict=True)) / len(ws)
