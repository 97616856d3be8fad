# task: fixed-point
# loses: fixed-point-check
# hint: fixed_point returned None
def fixed_point(h, c, gamma, tau):
    kappa = 1 - (1 - gamma * h) ** tau
    w = np.sum(kappa * c) / np.sum(kappa)
