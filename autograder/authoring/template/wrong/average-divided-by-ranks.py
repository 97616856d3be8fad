# task: average
# loses: average-check
# hint: you divided by the number of ranks
def average(gradients, counts):
    return sum(n * g for n, g in zip(counts, gradients, strict=True)) / len(counts)
