# task: warm-up
def constant(t, warm, eta, k):
    factor = k
    if t < warm:
        factor = 1
    return factor * eta


def gradual(t, warm, eta, k):
    if t >= warm:
        return k * eta
    return eta * (1 + (k - 1) * t / warm)
