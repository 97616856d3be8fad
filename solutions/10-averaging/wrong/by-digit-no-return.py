# task: by-digit
# loses: by-digit-check
# hint: by_digit returned None
def by_digit(y, K):
    rows = np.argsort(y, kind="stable").reshape(K, -1)
