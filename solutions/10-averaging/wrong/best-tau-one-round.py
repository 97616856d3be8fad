# task: best-tau
# loses: best-tau-check
# hint: is the time of one round
def seconds_to(M, tau, C, S):
    return tau * C + S


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
