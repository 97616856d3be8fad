# task: by-digit
def by_digit(y, K):
    rows = sorted(range(len(y)), key=lambda row: y[row])
    return np.array(np.split(np.array(rows), K))
