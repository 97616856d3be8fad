# task: best-tau
# loses: best-tau-check
# hint: the all-reduce was paid in every step
def seconds_to(M, tau, C, S):
    return M * tau * (C + S)


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
