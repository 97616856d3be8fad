# task: fit-network
# loses: fit-network-check
# hint: returns the slope first
def fit_network(nbytes, seconds):
    return np.polyfit(nbytes, seconds, 1, w=1 / seconds)
