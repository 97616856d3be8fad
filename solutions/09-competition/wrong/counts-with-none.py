# task: counts
# loses: counts-check
# hint: the first counts the pixels without a class
def counts(labels):
    return np.bincount(labels.ravel(), minlength=17)
