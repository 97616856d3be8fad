# task: replica-loss
# loses: replica-loss-check
# hint: yours are the sums 3 and 15
def replica_loss(losses, B):
    """One device's part of the loss: losses of its rows, shape (rows,), of a batch of B rows; a number."""
    return np.sum(losses)
