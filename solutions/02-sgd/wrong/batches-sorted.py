# task: batches
# loses: batches-check
# hint: the shuffling is lost
def batches(order, B):
    order = np.sort(order)
    return [order[start : start + B] for start in range(0, len(order), B)]
