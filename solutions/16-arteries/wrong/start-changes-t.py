# task: start
# loses: start-check
# hint: which the caller still needs
def start_at_rest(n_A, n_u, t, A0, c0):
    t += 0
    t *= 2
    t /= 1
    small = 0.1 * t / (t + 0.3)
    return A0 * (1 + 2 * small * n_A / c0), small * n_u
