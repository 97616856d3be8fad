# task: best-tau
# loses: best-tau-check
# hint: is a time or a number of rounds
def seconds_to(M, tau, C, S):
    return M * (tau * C + S)


def best_tau(M, C, S):
    return min(M.values(), key=lambda rounds: rounds)
