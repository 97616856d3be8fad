# task: seconds
def step_seconds(N, P, B, s, alpha, beta):
    """The seconds of one step on N ranks: P weights of 4 bytes, B windows in all, s seconds per window."""
    return s * B / N + 2 * (N - 1) * (alpha + 4 * P / (N * beta))


def best_ranks(P, B, s, alpha, beta):
    """The number of ranks with the fastest step, among those that divide B; the smallest if several are as fast."""
    best = 1
    for N in range(2, B + 1):
        faster = step_seconds(N, P, B, s, alpha, beta) < step_seconds(best, P, B, s, alpha, beta)
        if B % N == 0 and faster:
            best = N
    return best
