# task: touched
# loses: touched-check
# hint: in the corner, (0, 0)
def touched(training, test, r):
    hit = 0
    for row, column in np.argwhere(test):
        if row >= r and column >= r:
            hit += training[row - r : row + r + 1, column - r : column + r + 1].any()
    return hit / test.sum()
