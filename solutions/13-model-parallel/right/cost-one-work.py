# task: cost
def work(N, L, d, h, R, S):
    return 12 * d * h * L * R / N / S


def seconds_by_data(N, L, d, h, R, S, alpha, beta):
    return work(N, L, d, h, R, S) + 2 * (N - 1) * alpha + 32 * (N - 1) / N * d * h * L / beta


def seconds_by_tensor(N, L, d, h, R, S, alpha, beta):
    return work(N, L, d, h, R, S) + 4 * L * (N - 1) * alpha + 32 * L * (N - 1) / N * R * d / beta


def seconds_by_pipeline(N, L, d, h, R, S, alpha, beta, m):
    bubble = work(N, L, d, h, R, S) * (N - 1) / m
    return work(N, L, d, h, R, S) + bubble + 2 * (N - 1) * alpha + 16 * (N - 1) * R * d / m / beta
