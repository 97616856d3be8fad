# task: confusion
# loses: confusion-check
# hint: count pixels; shares come later
def confusion(true, said, classes):
    C = np.zeros((classes, classes))
    for i, j in zip(true, said, strict=True):
        C[i, j] += 1
    return C / C.sum()
