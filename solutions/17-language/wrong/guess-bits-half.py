# task: guess
# loses: guess-check
# hint: log2 of the loss
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return float(np.log(V))


def bits(loss):
    """A loss in nats per character, in bits per character."""
    return loss / 2
