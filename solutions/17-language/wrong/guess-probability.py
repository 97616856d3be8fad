# task: guess
# loses: guess-check
# hint: 0.25 is the probability
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return 1 / V


def bits(loss):
    """A loss in nats per character, in bits per character."""
    return loss / float(np.log(2))
