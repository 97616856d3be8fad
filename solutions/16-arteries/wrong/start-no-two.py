# task: start
# loses: start-check
# hint: has the factor 2 U / c0
def start_at_rest(n_A, n_u, t, A0, c0):
    small = 0.1 * t / (t + 0.3)
    return A0 * (1 + small * n_A / c0), small * n_u
