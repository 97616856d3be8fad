# task: counts
# loses: counts-check
# hint: 16 numbers, one for each class, also for those without a pixel
def counts(labels):
    return np.unique(labels[labels > 0], return_counts=True)[1]
