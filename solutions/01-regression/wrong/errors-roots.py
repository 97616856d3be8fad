# task: errors
# loses: errors-check
# hint: these are square roots
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)[0]
    return np.sqrt(np.mean((y - A @ a) ** 2)), np.sqrt(np.mean((y_held - A_held @ a) ** 2))
