# task: by-digit
# loses: by-digit-check
# hint: these are digits
def by_digit(y, K):
    return np.sort(y).reshape(K, -1)
