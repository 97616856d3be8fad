# task: fixed-point
# loses: fixed-point-check
# hint: the exponent τ is missing
def fixed_point(h, c, gamma, tau):
    kappa = gamma * h * tau
    return np.sum(kappa * c) / np.sum(kappa)
