# task: standardize
# loses: standardize-check
# hint: 0…1
def standardize(x):
    return (x - np.min(x)) / (np.max(x) - np.min(x))
