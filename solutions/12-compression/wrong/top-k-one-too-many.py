# task: top-k
# loses: top-k-check
# hint: yours have the shapes
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k - 1)[len(p) - k - 1 :].astype(np.int32)
    return indices, p[indices]
