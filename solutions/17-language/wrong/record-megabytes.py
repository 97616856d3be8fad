# task: record
# loses: record-check
# hint: bytes per rank and step on 4 ranks
def record():
    """Your results, a dict.

    "ring" and "compressed": (held-out loss in nats, bytes per rank and step). "resumed": the step from which training
    was resumed. "equal": whether the weights were then the same to the last bit.
    """
    return {
        "ring": (1.81, 0.637),
        "compressed": (2.2, 159360),
        "resumed": 60,
        "equal": True,
    }
