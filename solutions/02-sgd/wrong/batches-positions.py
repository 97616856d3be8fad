# task: batches
# loses: batches-check
# hint: the shuffling is lost
def batches(order, B):
    return [np.arange(start, min(start + B, len(order))) for start in range(0, len(order), B)]
