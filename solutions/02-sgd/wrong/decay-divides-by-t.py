# task: decay
# loses: decay-check
# hint: do not divide by t
def decay(gamma0, t, tau):

    return gamma0 * tau / np.float64(t)
