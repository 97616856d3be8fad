# task: standardize
# loses: standardize-check
# hint: brackets
def standardize(x):
    return x - np.mean(x) / np.std(x)
