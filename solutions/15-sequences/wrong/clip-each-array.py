# task: clip
# loses: clip-check
# hint: each array was clipped by itself
def clip(gradients, limit):
    result = []
    for g in gradients:
        norm = np.linalg.norm(g)
        result.append(g * min(1.0, limit / norm) if norm > 0 else g.copy())
    return result
