# task: confusion
# loses: confusion-check
# hint: whole numbers
def confusion(true, said, classes):
    C = np.zeros((classes, classes))
    np.add.at(C, (true, said), 1)
    return C
