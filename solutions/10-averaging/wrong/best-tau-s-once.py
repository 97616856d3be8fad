# task: best-tau
# loses: best-tau-check
# hint: the all-reduce was paid once in the whole training
def seconds_to(M, tau, C, S):
    return M * tau * C + S


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
