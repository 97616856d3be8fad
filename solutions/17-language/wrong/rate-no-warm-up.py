# task: rate
# loses: rate-check
# hint: 0.8 · 1/4 = 0.2
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max
    return eta_max / 2 * (1 + float(np.cos(np.pi * (t - w) / (s - w))))
