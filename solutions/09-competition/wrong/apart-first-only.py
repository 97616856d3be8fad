# task: apart
# loses: apart-check
# hint: try all pairs
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.abs(a[0] - pixel).max() for pixel in b)
