# task: decay
# loses: decay-check
# hint: it shrinks each step
def decay(gamma0, t, tau):

    return gamma0
