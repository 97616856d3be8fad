# task: floor
# loses: floor-check
# hint: do not square it again
def floor(gamma, sigma2):

    return gamma * sigma2**2 / (1 - gamma)
