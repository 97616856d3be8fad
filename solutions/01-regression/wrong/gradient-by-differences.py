# task: gradient
# loses: gradient-check
# hint: only approximate the derivatives
def gradient(theta, x, y):
    m, b = theta
    here = np.sum((y - (m * x + b)) ** 2)
    small = 1e-6
    R_m = (np.sum((y - ((m + small) * x + b)) ** 2) - here) / small
    R_b = (np.sum((y - (m * x + b + small)) ** 2) - here) / small
    return np.array([R_m, R_b])
