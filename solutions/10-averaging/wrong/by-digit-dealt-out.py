# task: by-digit
# loses: by-digit-check
# hint: the rows were dealt out one by one
def by_digit(y, K):
    return np.argsort(y, kind="stable").reshape(-1, K).T
