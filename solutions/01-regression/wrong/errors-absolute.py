# task: errors
# loses: errors-check
# hint: mean of |residual|
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(A, y)[0]
    return np.mean(np.abs(y - A @ a)), np.mean(np.abs(y_held - A_held @ a))
