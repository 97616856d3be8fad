# task: fit-network
# loses: fit-network-check
# hint: the other way round
def fit_network(nbytes, seconds):
    alpha, slope = np.polyfit(nbytes, seconds, 1, w=1 / seconds)
    return alpha, 1 / slope
