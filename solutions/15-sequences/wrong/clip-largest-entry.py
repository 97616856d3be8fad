# task: clip
# loses: clip-check
# hint: become (1.5) and (2)
def clip(gradients, limit):
    """The arrays of a gradient, clipped to the global norm `limit` > 0: a list of new arrays. gradients: a list."""
    norm = max(np.abs(g).max() for g in gradients)
    factor = min(1.0, limit / norm) if norm > 0 else 1.0
    return [factor * g for g in gradients]
