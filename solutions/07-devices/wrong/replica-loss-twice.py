# task: replica-loss
# loses: replica-loss-check
# hint: yours divides twice
def replica_loss(losses, B):
    """One device's part of the loss: losses of its rows, shape (rows,), of a batch of B rows; a number."""
    return np.mean(losses) / B
