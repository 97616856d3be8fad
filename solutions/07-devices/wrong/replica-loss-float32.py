# task: replica-loss
# loses: replica-loss-check
# hint: returned float32
def replica_loss(losses, B):
    return np.sum(losses, dtype=np.float32) / B
