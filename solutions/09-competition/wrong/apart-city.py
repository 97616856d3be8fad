# task: apart
# loses: apart-check
# hint: as one walks in a city
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.abs(b - pixel).sum(axis=1).min() for pixel in a)
