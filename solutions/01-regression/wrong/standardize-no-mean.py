# task: standardize
# loses: standardize-check
# hint: the mean is not subtracted
def standardize(x):
    return x / np.std(x)
