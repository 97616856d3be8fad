# task: floor
# loses: floor-check
# hint: what one step adds
def floor(gamma, sigma2):

    return 4 * gamma**2 * sigma2
