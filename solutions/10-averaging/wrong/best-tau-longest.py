# task: best-tau
# loses: best-tau-check
# hint: 50 takes longest
def seconds_to(M, tau, C, S):
    return M * (tau * C + S)


def best_tau(M, C, S):
    return max(M, key=lambda tau: M[tau] * (tau * C + S))
