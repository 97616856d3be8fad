# task: fixed-point
def fixed_point(h, c, gamma, tau):
    above = below = 0.0
    for height, centre in zip(h, c, strict=True):
        kappa = 1 - (1 - gamma * height) ** tau
        above += kappa * centre
        below += kappa
    return above / below
