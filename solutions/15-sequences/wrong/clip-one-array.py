# task: clip
# loses: clip-check
# hint: two arrays go in
def clip(gradients, limit):
    """The arrays of a gradient, clipped to the global norm `limit` > 0: a list of new arrays. gradients: a list."""
    norm = np.sqrt(sum((g**2).sum() for g in gradients))
    factor = min(1.0, limit / norm) if norm > 0 else 1.0
    return [np.concatenate([factor * g.ravel() for g in gradients])]
