# task: floor
# loses: floor-check
# hint: the square of 1 - 2γ is missing
def floor(gamma, sigma2):

    return 4 * gamma**2 * sigma2 / (1 - (1 - 2 * gamma))
