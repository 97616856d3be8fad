# task: fit-network
# loses: fit-network-check
# hint: the fit of relative misses
def fit_network(nbytes, seconds):
    slope = (seconds[-1] - seconds[0]) / (nbytes[-1] - nbytes[0])
    return seconds[0] - slope * nbytes[0], 1 / slope
