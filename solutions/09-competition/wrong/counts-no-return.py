# task: counts
# loses: counts-check
# hint: gave back nothing
def counts(labels):
    np.bincount(labels.ravel(), minlength=17)[1:]
