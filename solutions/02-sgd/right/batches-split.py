# task: batches
def batches(order, B):
    return np.split(order, range(B, len(order), B))
