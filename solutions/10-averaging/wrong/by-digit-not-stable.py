# task: by-digit
# loses: by-digit-check
# hint: the order among equal digits changed
def by_digit(y, K):
    return np.lexsort((-np.arange(len(y)), y)).reshape(K, -1)
