# task: f1
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    total = 0.0
    for k in range(K):
        both = np.count_nonzero((y == k) & (read == k))
        if both:
            precision, recall = both / np.count_nonzero(read == k), both / np.count_nonzero(y == k)
            total += 2 * precision * recall / (precision + recall)
    return total / K
