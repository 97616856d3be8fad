# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: sum of 1 over all points, which is n
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), 1]])
    right_side = np.array([np.sum(x * y), np.sum(y)])
    return np.linalg.solve(matrix, right_side)
