# task: by-digit
def by_digit(y, K):
    return np.array(np.array_split(np.argsort(y, kind="stable"), K))
