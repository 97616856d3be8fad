# task: decay
# loses: decay-check
# hint: it halves every tau steps
def decay(gamma0, t, tau):

    return gamma0 * 0.5 ** (t / tau)
