# task: errors
# loses: errors-check
# hint: you fitted a second time
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)[0]
    a_held = np.linalg.lstsq(A_held, y_held)[0]
    return np.mean((y - A @ a) ** 2), np.mean((y_held - A_held @ a_held) ** 2)
