# task: errors
# loses: errors-check
# hint: returns a tuple of four things
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)
    return np.mean((y - A @ a) ** 2), np.mean((y_held - A_held @ a) ** 2)
