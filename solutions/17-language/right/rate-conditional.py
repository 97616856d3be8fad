# task: rate
def rate(t, w, s, eta_max):
    """The learning rate of step t, counted from 0; 1 <= w < s, and t < s."""
    import math

    done = (t - w) / (s - w)
    return eta_max * ((t + 1) / w if t < w else 0.5 + 0.5 * math.cos(math.pi * done))
