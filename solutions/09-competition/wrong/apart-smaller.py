# task: apart
# loses: apart-check
# hint: you took the smaller of the two differences
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.abs(b - pixel).min(axis=1).min() for pixel in a)
