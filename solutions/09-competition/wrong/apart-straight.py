# task: apart
# loses: apart-check
# hint: is the length of the straight line
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.sqrt(((b - pixel) ** 2).sum(axis=1)).min() for pixel in a)
