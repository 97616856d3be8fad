# task: best-tau
# loses: best-tau-check
# hint: or was chosen for its few rounds
def seconds_to(M, tau, C, S):
    return M * (tau * C + S)


def best_tau(M, C, S):
    return min(M, key=M.get)
