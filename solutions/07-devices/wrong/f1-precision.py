# task: f1
# loses: f1-check
# hint: yours is the average precision
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    said = [np.sum(read == k) for k in range(K)]
    return np.mean([np.sum((y == k) & (read == k)) / said[k] if said[k] else 0.0 for k in range(K)])
