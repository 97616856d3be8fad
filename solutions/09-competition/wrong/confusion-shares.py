# task: confusion
# loses: confusion-check
# hint: return the numbers of pixels, without a division
def confusion(true, predicted, classes):
    C = np.zeros((classes, classes))
    for i, j in zip(true, predicted, strict=True):
        C[i, j] += 1
    return C / C.sum()
