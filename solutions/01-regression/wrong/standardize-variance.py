# task: standardize
# loses: standardize-check
# hint: divided by the variance
def standardize(x):
    return (x - np.mean(x)) / np.var(x)
