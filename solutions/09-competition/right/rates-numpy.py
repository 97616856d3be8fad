# task: rates
def rates(eta, N, warm, total):
    t = np.arange(total)
    grown = np.interp(t, [0, warm], [eta, N * eta])
    return list(np.where(4 * t < 3 * total, grown, 0.1 * grown))
