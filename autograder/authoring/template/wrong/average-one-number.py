# task: average
# loses: average-check
# hint: yours has the shape ()
def average(gradients, counts):
    return float(np.sum([n * g for n, g in zip(counts, gradients, strict=True)])) / sum(counts)
