# task: guess
def guess(V):
    """The loss in nats per character of a model that gives each of V characters the same probability."""
    return float(-np.mean(np.log(np.full(V, 1 / V))))


def bits(loss):
    """A loss in nats per character, in bits per character."""
    return float(loss / np.log(2))
