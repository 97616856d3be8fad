# task: floor
# loses: floor-check
# hint: yours is
def floor(gamma, sigma2):

    return gamma * sigma2 / (1 + gamma)
