# task: best-tau
# loses: best-tau-check
# hint: is a place in the dict
def seconds_to(M, tau, C, S):
    return M * (tau * C + S)


def best_tau(M, C, S):
    times = [M[tau] * (tau * C + S) for tau in M]
    return times.index(min(times))
