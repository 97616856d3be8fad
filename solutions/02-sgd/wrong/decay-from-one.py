# task: decay
# loses: decay-check
# hint: at t = 0 the learning rate is gamma0
def decay(gamma0, t, tau):

    return gamma0 / (1 + (t + 1) / tau)
