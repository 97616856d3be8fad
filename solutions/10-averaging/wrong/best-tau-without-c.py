# task: best-tau
# loses: best-tau-check
# hint: is best; yours is
def seconds_to(M, tau, C, S):
    return M * (tau * C + S)


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau + S))
