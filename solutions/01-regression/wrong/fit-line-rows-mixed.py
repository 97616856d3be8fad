# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: changed places on the right side
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(y), np.sum(x * y)])
    return np.linalg.solve(matrix, right_side)
