# task: seconds
# loses: seconds-check
# hint: P, B, s, alpha, beta
def step_seconds(N, P, B, s, alpha, beta):
    """The seconds of one step on N ranks: P weights of 4 bytes, B windows in all, s seconds per window."""
    return s * B / N + 2 * (N - 1) * (alpha + 4 * P / (N * beta))


def best_ranks(P, B, s, alpha, beta):
    """The number of ranks with the fastest step, among those that divide B; the smallest if several are as fast."""
    divisors = [2**i for i in range(10) if 2**i <= B]
    return min(divisors, key=lambda N: step_seconds(N, P, B, s, alpha, beta))
