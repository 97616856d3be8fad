# task: decay
def decay(gamma0, t, tau):

    return gamma0 * tau / (tau + t)
