# task: fit-network
def fit_network(nbytes, seconds):
    w = 1 / np.asarray(seconds) ** 2
    x, y = (w @ nbytes) / w.sum(), (w @ seconds) / w.sum()
    slope = (w * (nbytes - x)) @ (seconds - y) / ((w * (nbytes - x)) @ (nbytes - x))
    return y - slope * x, 1 / slope
