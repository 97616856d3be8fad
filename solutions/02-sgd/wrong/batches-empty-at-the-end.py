# task: batches
# loses: batches-check
# hint: entries in batches of
def batches(order, B):
    return [order[k * B : (k + 1) * B] for k in range(len(order) // B + 1)]
