# task: best-tau
# loses: best-tau-check
# hint: 640 counts one step per round
def seconds_to(M, tau, C, S):
    return M * (C + S)


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
