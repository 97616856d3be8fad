# task: errors
# loses: errors-check
# hint: took part in the fit
def errors(A, y, A_held, y_held):
    a = np.linalg.lstsq(np.vstack([A, A_held]), np.concatenate([y, y_held]))[0]
    return np.mean((y - A @ a) ** 2), np.mean((y_held - A_held @ a) ** 2)
