# task: confusion
# loses: confusion-check
# hint: rows and columns are exchanged
def confusion(true, predicted, classes):
    C = np.zeros((classes, classes), dtype=int)
    for i, j in zip(true, predicted, strict=True):
        C[j, i] += 1
    return C
