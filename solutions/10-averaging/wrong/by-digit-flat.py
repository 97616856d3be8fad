# task: by-digit
# loses: by-digit-check
# hint: 3 workers with 2 rows each
def by_digit(y, K):
    return np.argsort(y, kind="stable")
