# task: guess
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return -float(np.log(1 / V))


def bits(loss):
    """A loss in nats per character, in bits per character."""
    return loss * float(np.log2(np.e))
