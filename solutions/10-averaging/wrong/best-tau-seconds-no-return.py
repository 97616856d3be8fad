# task: best-tau
# loses: best-tau-check
# hint: seconds_to returned None
def seconds_to(M, tau, C, S):
    seconds = M * (tau * C + S)


def best_tau(M, C, S):
    return min(M, key=lambda tau: M[tau] * (tau * C + S))
