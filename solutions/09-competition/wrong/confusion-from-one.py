# task: confusion
# loses: confusion-check
# hint: rows and columns are shifted by one
def confusion(true, predicted, classes):
    C = np.zeros((classes, classes), dtype=int)
    for i, j in zip(true, predicted, strict=True):
        C[i - 1, j - 1] += 1
    return C
