# task: start
def start_at_rest(n_A, n_u, t, A0, c0):
    g = t / (0.3 + t)
    return [A0 * (1 + 0.2 / c0 * g * n_A), g * n_u / 10]
