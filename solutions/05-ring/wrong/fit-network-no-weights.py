# task: fit-network
# loses: fit-network-check
# hint: the fit of absolute misses
def fit_network(nbytes, seconds):
    slope, alpha = np.polyfit(nbytes, seconds, 1)
    return alpha, 1 / slope
