# task: guess
# loses: guess-check
# hint: bits returned None
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return float(np.log(V))


def bits(loss):
    """A loss in nats per character, in bits per character."""
    loss / float(np.log(2))
