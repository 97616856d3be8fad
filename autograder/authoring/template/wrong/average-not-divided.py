# task: average
# loses: average-check
# hint: Divide it by the number of examples
def average(gradients, counts):
    return sum(n * g for n, g in zip(counts, gradients, strict=True))
