# task: errors
# loses: errors-check
# hint: return means
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)[0]
    return np.sum((y - A @ a) ** 2), np.sum((y_held - A_held @ a) ** 2)
