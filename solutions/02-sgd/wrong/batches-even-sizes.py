# task: batches
# loses: batches-check
# hint: you divided the entries evenly
def batches(order, B):
    return np.array_split(order, -(-len(order) // B))
