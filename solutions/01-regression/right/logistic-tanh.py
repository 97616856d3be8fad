# task: logistic
def logistic_gradient(theta, x, y):
    p = 0.5 * (1 + np.tanh((theta[0] + theta[1] * x) / 2))
    jacobian = np.stack([p * (1 - p), x * p * (1 - p)])
    return -2 * jacobian @ (y - p)
