# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: entries of the right side are swapped
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(y), np.sum(x * y)])
    return np.linalg.solve(matrix, right_side)
