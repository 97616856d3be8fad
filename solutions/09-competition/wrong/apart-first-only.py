# task: apart
# loses: apart-check
# hint: compare all pairs, not only the first training pixel
def apart(training, test):
    a, b = np.argwhere(training), np.argwhere(test)
    return min(np.abs(a[0] - pixel).max() for pixel in b)
