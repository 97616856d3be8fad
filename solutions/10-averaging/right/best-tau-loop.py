# task: best-tau
def seconds_to(M, tau, C, S):
    return M * tau * C + M * S


def best_tau(M, C, S):
    best = None
    for tau in M:
        if best is None or M[tau] * (tau * C + S) < M[best] * (best * C + S):
            best = tau
    return best
