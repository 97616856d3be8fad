# task: start
# loses: start-check
# hint: the scale U = 0.1 is missing
def start_at_rest(n_A, n_u, t, A0, c0):
    small = t / (t + 0.3)
    return A0 * (1 + 2 * small * n_A / c0), small * n_u
