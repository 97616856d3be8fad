# task: apart
# loses: apart-check
# hint: Take the nearest
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return max(np.abs(b - pixel).max(axis=1).max() for pixel in a)
