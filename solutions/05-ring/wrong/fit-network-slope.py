# task: fit-network
# loses: fit-network-check
# hint: seconds per byte. beta is bytes per second
def fit_network(nbytes, seconds):
    slope, alpha = np.polyfit(nbytes, seconds, 1, w=1 / seconds)
    return alpha, slope
