# task: top-k
def top_k(p, k):
    order = np.argsort(-np.abs(p))[:k]
    return order.astype("int32"), p[order]
