# task: average
# loses: average-check
# hint: End it with a `return` statement
def average(gradients, counts):
    total = sum(n * g for n, g in zip(counts, gradients, strict=True)) / sum(counts)
