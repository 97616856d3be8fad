# task: rate
# loses: rate-check
# hint: Divide eta_max by 2 once
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max / 4 * (1 + float(np.cos(np.pi * (t - w) / (s - w))))
