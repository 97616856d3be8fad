# task: batches
# loses: batches-check
# hint: filled with entries from the front
def batches(order, B):
    return [np.take(order, range(start, start + B), mode="wrap") for start in range(0, len(order), B)]
