# task: fit-line
# loses: fit-line-check, fit-line-engel-check
# hint: m and b are swapped: return m first
def fit_line(x, y):
    matrix = np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
    right_side = np.array([np.sum(x * y), np.sum(y)])
    m, b = np.linalg.solve(matrix, right_side)
    return b, m
