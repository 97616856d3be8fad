# task: fixed-point
# loses: fixed-point-check
# hint: not (1 - γ h_k)^τ
def fixed_point(h, c, gamma, tau):
    rest = (1 - gamma * h) ** tau
    return np.sum(rest * c) / np.sum(rest)
