# task: batches
# loses: batches-check
# hint: you shared the entries out evenly
def batches(order, B):
    return np.array_split(order, -(-len(order) // B))
