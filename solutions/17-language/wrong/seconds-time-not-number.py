# task: seconds
# loses: seconds-check
# hint: the seconds per step on
def step_seconds(N, P, B, s, alpha, beta):
    """The seconds of one step on N ranks: P weights of 4 bytes, B windows in all, s seconds per window."""
    return s * B / N + 2 * (N - 1) * (alpha + 4 * P / (N * beta))


def best_ranks(P, B, s, alpha, beta):
    """The number of ranks with the fastest step, among those that divide B; the smallest if several are as fast."""
    divisors = [N for N in range(1, B + 1) if B % N == 0]
    return min(step_seconds(N, P, B, s, alpha, beta) for N in divisors)
