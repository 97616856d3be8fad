# task: decay
# loses: decay-check
# hint: 1 + t / tau is squared
def decay(gamma0, t, tau):

    return gamma0 / (1 + t / tau) ** 2
