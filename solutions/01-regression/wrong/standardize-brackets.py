# task: standardize
# loses: standardize-check
# hint: brackets are missing: subtract
def standardize(x):
    return x - np.mean(x) / np.std(x)
