# task: clip
# loses: clip-check
# hint: was made longer
def clip(gradients, limit):
    """The arrays of a gradient, clipped to the global norm `limit` > 0: a list of new arrays. gradients: a list."""
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    factor = limit / norm if norm > 0 else 1.0
    return [factor * g for g in gradients]
