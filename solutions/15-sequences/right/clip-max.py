# task: clip
def clip(gradients, limit):
    squares = 0.0
    for g in gradients:
        squares += float(np.vdot(g, g))
    divisor = max(1.0, squares**0.5 / limit)
    return [g / divisor for g in gradients]
