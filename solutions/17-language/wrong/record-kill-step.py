# task: record
# loses: record-check
# hint: where the rank was killed
def record():
    """Your results, a dict.

    "ring" and "compressed": (held-out loss in nats, bytes per rank and step). "resumed": the step from which training
    was resumed. "equal": whether the weights were then the same to the last bit.
    """
    return {
        "ring": (1.81, 637440),
        "compressed": (2.2, 159375),
        "resumed": 75,
        "equal": True,
    }
