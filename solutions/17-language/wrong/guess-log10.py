# task: guess
# loses: guess-check
# hint: the loss is ln 4 = 1.386
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return float(np.log10(V))


def bits(loss):
    """A loss in nats per character, in bits per character."""
    return loss / float(np.log(2))
