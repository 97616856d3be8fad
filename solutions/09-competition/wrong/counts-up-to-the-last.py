# task: counts
# loses: counts-check
# hint: minlength=17
def counts(labels):
    return np.bincount(labels.ravel(), minlength=4)[1:]
