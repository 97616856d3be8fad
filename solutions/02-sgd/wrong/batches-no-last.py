# task: batches
# loses: batches-check
# hint: the last, short piece [2] is missing
def batches(order, B):
    return [order[k * B : (k + 1) * B] for k in range(len(order) // B)]
