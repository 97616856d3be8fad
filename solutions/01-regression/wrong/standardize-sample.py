# task: standardize
# loses: standardize-check
# hint: with n - 1
def standardize(x):
    return (x - np.mean(x)) / np.std(x, ddof=1)
