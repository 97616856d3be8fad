# task: by-digit
# loses: by-digit-check
# hint: expected [[1, 3], [2, 5], [0, 4]]
def by_digit(y, K):
    return np.argsort(-y, kind="stable").reshape(K, -1)
