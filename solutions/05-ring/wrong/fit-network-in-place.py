# task: fit-network
# loses: fit-network-check
# hint: changes `nbytes`
def fit_network(nbytes, seconds):
    nbytes /= seconds
    alpha, slope = np.linalg.lstsq(np.column_stack([1 / seconds, nbytes]), np.ones(len(seconds)))[0]
    return alpha, 1 / slope
