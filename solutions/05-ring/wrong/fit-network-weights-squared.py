# task: fit-network
# loses: fit-network-check
# hint: the fit of relative misses
def fit_network(nbytes, seconds):
    slope, alpha = np.polyfit(nbytes, seconds, 1, w=1 / seconds**2)
    return alpha, 1 / slope
