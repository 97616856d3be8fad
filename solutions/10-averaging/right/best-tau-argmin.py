# task: best-tau
def seconds_to(M, tau, C, S):
    one_round = tau * C + S
    return M * one_round


def best_tau(M, C, S):
    taus = list(M)
    return taus[int(np.argmin([seconds_to(M[tau], tau, C, S) for tau in taus]))]
