# task: touched
# loses: touched-check
# hint: at the edge of the scene
def touched(training, test, r):
    hit = 0
    for row, column in np.argwhere(test):
        hit += training[max(row - r, 0) : row + r + 1, max(column - r, 1) : column + r + 1].any()
    return hit / test.sum()
