# task: standardize
# loses: standardize-check
# hint: changes `x`
def standardize(x):
    x -= x.mean()
    return x / x.std()
