# task: touched
# loses: touched-check
# hint: the share is of the training pixels
def touched(training, test, r):
    hit = 0
    for row, column in np.argwhere(training):
        hit += test[max(row - r, 0) : row + r + 1, max(column - r, 0) : column + r + 1].any()
    return hit / training.sum()
