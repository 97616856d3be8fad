# task: cost
def all_reduce_seconds(N, numbers, alpha, beta):
    return 2 * (N - 1) * (alpha + 8 * numbers / N / beta)


def seconds_by_data(N, L, d, h, R, S, alpha, beta):
    weights = 2 * d * h * L
    return 6 * weights * (R / N) / S + all_reduce_seconds(N, weights, alpha, beta)


def seconds_by_tensor(N, L, d, h, R, S, alpha, beta):
    weights = 2 * d * h * L
    return 6 * weights / N * R / S + L * 2 * all_reduce_seconds(N, R * d, alpha, beta)


def seconds_by_pipeline(N, L, d, h, R, S, alpha, beta, m):
    turn = 6 * 2 * d * h * (L / N) * (R / m) / S
    message = alpha + 8 * R / m * d / beta
    return (N - 1 + m) * turn + (N - 1) * message + (N - 1) * message
