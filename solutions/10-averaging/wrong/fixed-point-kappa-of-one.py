# task: fixed-point
# loses: fixed-point-check
# hint: with τ = 2, κ = (0.19, 0.51)
def fixed_point(h, c, gamma, tau):
    kappa = 1 - (1 - gamma * h) ** (2 * tau - 1)
    return np.sum(kappa * c) / np.sum(kappa)
