# task: apart
# loses: apart-check
# hint: not the smaller
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.abs(b - pixel).min(axis=1).min() for pixel in a)
