# task: gradient
# loses: gradient-check
# hint: changes `y`
def gradient(theta, x, y):
    y -= theta[0] * x + theta[1]
    return np.array([-2 * np.sum(y * x), -2 * np.sum(y)])
