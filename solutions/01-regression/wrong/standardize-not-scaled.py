# task: standardize
# loses: standardize-check
# hint: not divided by σ
def standardize(x):
    return x - np.mean(x)
