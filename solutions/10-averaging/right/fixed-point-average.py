# task: fixed-point
def fixed_point(h, c, gamma, tau):
    return float(np.average(c, weights=1 - (1 - gamma * h) ** tau))
