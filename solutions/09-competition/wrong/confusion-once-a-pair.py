# task: confusion
# loses: confusion-check
# hint: counts a pair only once
def confusion(true, predicted, classes):
    C = np.zeros((classes, classes), dtype=int)
    C[true, predicted] += 1
    return C
