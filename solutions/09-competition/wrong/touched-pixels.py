# task: touched
# loses: touched-check
# hint: divide by the number of test pixels
def touched(training, test, r):
    hit = 0
    for row, column in np.argwhere(test):
        hit += training[max(row - r, 0) : row + r + 1, max(column - r, 0) : column + r + 1].any()
    return hit
