# task: errors
# loses: errors-check
# hint: the two errors are swapped
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)[0]
    return np.mean((y_held - A_held @ a) ** 2), np.mean((y - A @ a) ** 2)
