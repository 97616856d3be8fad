# task: floor
def floor(gamma, sigma2):

    v = sigma2
    for _ in range(5000):
        v = (1 - 2 * gamma) ** 2 * v + 4 * gamma**2 * sigma2
    return v
