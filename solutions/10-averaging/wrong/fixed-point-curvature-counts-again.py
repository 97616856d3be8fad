# task: fixed-point
# loses: fixed-point-check
# hint: with τ = 1 local SGD rests at the minimum
def fixed_point(h, c, gamma, tau):
    kappa = h * (1 - (1 - gamma * h) ** tau)
    return np.sum(kappa * c) / np.sum(kappa)
