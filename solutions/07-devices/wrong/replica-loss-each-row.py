# task: replica-loss
# loses: replica-loss-check
# hint: one device has one number
def replica_loss(losses, B):
    """One device's part of the loss: losses of its rows, shape (rows,), of a batch of B rows; a number."""
    return losses / B
