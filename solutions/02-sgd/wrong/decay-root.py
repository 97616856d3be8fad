# task: decay
# loses: decay-check
# hint: the noise does not die out
def decay(gamma0, t, tau):

    return gamma0 / np.sqrt(1 + t / tau)
