# task: rate
# loses: rate-check
# hint: is still 0.8
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max
