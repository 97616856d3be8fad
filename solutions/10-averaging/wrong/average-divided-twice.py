# task: average
# loses: average-check
# hint: half of the right average
def average(ws, sizes):
    return sum(n * w for n, w in zip(sizes, ws, strict=True)) / sum(sizes) / len(ws)
