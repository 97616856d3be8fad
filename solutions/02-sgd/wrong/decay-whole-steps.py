# task: decay
# loses: decay-check
# hint: t // tau rounds down
def decay(gamma0, t, tau):

    return gamma0 / (1 + t // tau)
