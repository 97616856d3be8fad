# task: top-k
# loses: top-k-check
# hint: the k smallest
def top_k(p, k):
    indices = np.argsort(np.abs(p))[:k].astype(np.int32)
    return indices, p[indices]
