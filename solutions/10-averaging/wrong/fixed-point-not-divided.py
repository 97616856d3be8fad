# task: fixed-point
# loses: fixed-point-check
# hint: divide by the sum of the κ_k
def fixed_point(h, c, gamma, tau):
    kappa = 1 - (1 - gamma * h) ** tau
    return np.sum(kappa * c)
