# task: batches
# loses: batches-check
# hint: pieces overlap
def batches(order, B):
    return [order[start : start + B] for start in range(len(order) - B + 1)]
