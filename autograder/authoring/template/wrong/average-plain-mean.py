# task: average
# loses: average-check
# hint: Weight each one by its number of examples
def average(gradients, counts):
    return sum(gradients) / len(gradients)
