# task: start
# loses: start-check
# hint: A: divide by c0
def start_at_rest(n_A, n_u, t, A0, c0):
    small = 0.1 * t / (t + 0.3)
    return A0 * (1 + 2 * small * n_A), small * n_u
