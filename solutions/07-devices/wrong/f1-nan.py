# task: f1
# loses: f1-check
# hint: gave 0 / 0
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    scores = []
    for k in range(K):
        tp = np.sum((y == k) & (read == k))
        missed = np.sum((y == k) != (read == k))
        scores.append(2 * tp / np.float64(2 * tp + missed))
    return np.mean(scores)
