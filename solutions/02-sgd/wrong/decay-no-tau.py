# task: decay
# loses: decay-check
# hint: tau is missing
def decay(gamma0, t, tau):

    return gamma0 / (1 + t)
