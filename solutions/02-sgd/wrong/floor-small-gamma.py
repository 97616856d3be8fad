# task: floor
# loses: floor-check
# hint: value for small γ only
def floor(gamma, sigma2):

    return gamma * sigma2
