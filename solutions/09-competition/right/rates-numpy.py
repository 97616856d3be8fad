# task: rates
def rates(eta, k, warm, total):
    t = np.arange(total)
    grown = np.interp(t, [0, warm], [eta, k * eta])
    return list(np.where(4 * t < 3 * total, grown, 0.1 * grown))
