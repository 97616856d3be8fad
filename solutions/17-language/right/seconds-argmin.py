# task: seconds
def step_seconds(N, P, B, s, alpha, beta):
    """The seconds of one step on N ranks: P weights of 4 bytes, B windows in all, s seconds per window."""
    compute = s * (B // N)
    chunk = 4 * P / N
    return compute + (2 * N - 2) * (alpha + chunk / beta)


def best_ranks(P, B, s, alpha, beta):
    """The number of ranks with the fastest step, among those that divide B; the smallest if several are as fast."""
    divisors = [N for N in range(1, B + 1) if B % N == 0]
    times = [step_seconds(N, P, B, s, alpha, beta) for N in divisors]
    return divisors[int(np.argmin(times))]
