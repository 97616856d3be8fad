# task: confusion
# loses: confusion-check
# hint: counts a pair once
def confusion(true, said, classes):
    C = np.zeros((classes, classes), dtype=int)
    C[true, said] += 1
    return C
