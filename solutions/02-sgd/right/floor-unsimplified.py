# task: floor
def floor(gamma, sigma2):

    return 4 * gamma**2 * sigma2 / (1 - (1 - 2 * gamma) ** 2)
