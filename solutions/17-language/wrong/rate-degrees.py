# task: rate
# loses: rate-check
# hint: middle of the cosine is 0.4
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    if t < w:
        return eta_max * (t + 1) / w
    return eta_max / 2 * (1 + float(np.cos((t - w) / (s - w))))
