# task: clip
def clip(gradients, limit):
    norm = np.linalg.norm(np.concatenate([g.ravel() for g in gradients]))
    if norm <= limit:
        return [g.copy() for g in gradients]
    return [g * (limit / norm) for g in gradients]
