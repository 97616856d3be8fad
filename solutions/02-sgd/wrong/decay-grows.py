# task: decay
# loses: decay-check
# hint: has grown
def decay(gamma0, t, tau):

    return gamma0 * (1 + t / tau)
