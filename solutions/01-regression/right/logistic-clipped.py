# task: logistic
def logistic_gradient(theta, x, y):
    u = np.clip(theta[0] + theta[1] * x, -500, 500)
    p = np.exp(u) / (1 + np.exp(u))
    s = 2 * (p - y) * p * (1 - p)
    return [s.sum(), s @ x]
