# task: batch-norm
def normalize(x, n, epsilon):
    parts = []
    for first in range(0, len(x), n):
        own = x[first : first + n]
        parts.append((own - own.mean(axis=0)) / (own.var(axis=0) + epsilon) ** 0.5)
    return np.concatenate(parts)
