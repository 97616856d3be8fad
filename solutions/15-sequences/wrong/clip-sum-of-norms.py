# task: clip
# loses: clip-check
# hint: 7 is the sum
def clip(gradients, limit):
    """The arrays of a gradient, clipped to the global norm `limit` > 0: a list of new arrays. gradients: a list."""
    norm = sum(np.linalg.norm(g) for g in gradients)
    factor = min(1.0, limit / norm) if norm > 0 else 1.0
    return [factor * g for g in gradients]
