# task: fit-network
# loses: fit-network-check
# hint: in the wrong order
def fit_network(nbytes, seconds):
    slope, alpha = np.polyfit(nbytes, seconds, 1, w=1 / seconds)
    return 1 / slope, alpha
