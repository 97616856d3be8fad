# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: m = 1.4 and b = 0.9
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(x * y), np.mean(y)])
    return np.linalg.solve(matrix, right_side)
