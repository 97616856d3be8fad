# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: the right side has Σx·Σy
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(x) * np.sum(y), np.sum(y)])
    return np.linalg.solve(matrix, right_side)
