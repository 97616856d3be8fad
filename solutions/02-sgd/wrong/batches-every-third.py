# task: batches
# loses: batches-check
# hint: Take neighbours
def batches(order, B):
    count = -(-len(order) // B)
    return [order[k::count] for k in range(count)]
