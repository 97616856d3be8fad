# task: cost
# loses: cost-check
# hint: is the forward pass alone
def seconds_by_data(N, L, d, h, R, S, alpha, beta):
    return 4 * d * h * L * R / (N * S) + 2 * (N - 1) * (alpha + 8 * 2 * d * h * L / (N * beta))


def seconds_by_tensor(N, L, d, h, R, S, alpha, beta):
    return 12 * d * h * L * R / (N * S) + 2 * L * 2 * (N - 1) * (alpha + 8 * R * d / (N * beta))


def seconds_by_pipeline(N, L, d, h, R, S, alpha, beta, m):
    each = 12 * d * h * L * R / (N * S * m)
    return (m + N - 1) * each + 2 * (N - 1) * (alpha + 8 * R * d / (m * beta))
