# task: record
def record():
    """Your results, a dict.

    "ring" and "compressed": (held-out loss in nats, bytes per rank and step). "resumed": the step from which training
    was resumed. "equal": whether the weights were then the same to the last bit.
    """
    results = {
        "ring": (1.81, 637440),
        "compressed": (2.2, 159360),
        "resumed": 60,
        "equal": True,
    }
    return results
