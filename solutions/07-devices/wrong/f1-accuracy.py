# task: f1
# loses: f1-check
# hint: 1/2 is the share
def f1(y, read, K):
    """The macro-F1 of digits y that were read as `read`, both of shape (rows,), with the classes 0 to K - 1."""
    return np.mean(y == read)
