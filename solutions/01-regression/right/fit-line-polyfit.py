# task: fit-line
def fit_line(x, y):
    return np.polyfit(x, y, 1)
