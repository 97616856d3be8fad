# task: floor
# loses: floor-check
# hint: with γ = ½ the floor is
def floor(gamma, sigma2):

    return gamma * sigma2 / (1 + gamma)
