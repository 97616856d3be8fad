# task: start
# loses: start-check
# hint: A = 4.5 and u = 0.3 by hand
def start_at_rest(n_A, n_u, t, A0, c0):
    small = 0.1 * t / (t + 0.3)
    return A0 * (1 + 2 * small * n_u / c0), small * n_A
