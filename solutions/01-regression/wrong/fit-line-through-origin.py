# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: line through the origin
def fit_line(x, y):
    m = np.sum(x * y) / np.sum(x**2)
    return m, 0.0
