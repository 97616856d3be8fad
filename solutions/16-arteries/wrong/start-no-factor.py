# task: start
# loses: start-check
# hint: at rest, A = A0 = 3
def start_at_rest(n_A, n_u, t, A0, c0):
    small = 0.1
    return A0 * (1 + 2 * small * n_A / c0), small * n_u
