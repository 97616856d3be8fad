# task: average
# loses: average-check
# hint: 16 is the weighted sum
def average(ws, sizes):
    return sum(n * w for n, w in zip(sizes, ws, strict=True))
