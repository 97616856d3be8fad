# task: start
def start_at_rest(n_A, n_u, t, A0, c0):
    U = 0.1
    g = 1 - 0.3 / (t + 0.3)
    A = A0 + A0 * (2 * U / c0) * g * n_A
    u = U * g * n_u
    return A, u
