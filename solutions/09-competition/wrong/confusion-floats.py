# task: confusion
# loses: confusion-check
# hint: C counts, so its entries are integers
def confusion(true, predicted, classes):
    C = np.zeros((classes, classes))
    np.add.at(C, (true, predicted), 1)
    return C
