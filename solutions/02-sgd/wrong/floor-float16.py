# task: floor
# loses: floor-check
# hint: returned float16
def floor(gamma, sigma2):
    return np.float16(gamma * sigma2 / (1 - gamma))
