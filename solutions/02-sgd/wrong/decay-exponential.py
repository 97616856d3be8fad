# task: decay
# loses: decay-check
# hint: gamma0 · exp(-t / tau)
def decay(gamma0, t, tau):

    return gamma0 * np.exp(-t / tau)
