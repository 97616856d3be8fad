# task: f1
# loses: f1-check
# hint: weights each class by its rows
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    scores = []
    for k in range(K):
        tp = np.sum((y == k) & (read == k))
        missed = np.sum((y == k) != (read == k))
        scores.append(np.sum(y == k) * 2 * tp / (2 * tp + missed) if tp else 0.0)
    return np.sum(scores) / len(y)
