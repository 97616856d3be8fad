# task: rate
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max * float(np.cos(np.pi / 2 * (t - w) / (s - w))) ** 2
