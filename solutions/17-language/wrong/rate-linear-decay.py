# task: rate
# loses: rate-check
# hint: w = 10, s = 100
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max * (s - t) / (s - w)
