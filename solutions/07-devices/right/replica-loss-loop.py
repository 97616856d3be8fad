# task: replica-loss
def replica_loss(losses, B):
    """One device's part of the loss: losses of its rows, shape (rows,), of a batch of B rows; a number."""
    part = 0.0
    for loss in losses:
        part += loss / B
    return part
