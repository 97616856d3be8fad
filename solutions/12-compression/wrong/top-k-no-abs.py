# task: top-k
# loses: top-k-check
# hint: compare absolute values
def top_k(p, k):
    indices = np.argsort(p)[len(p) - k :].astype(np.int32)
    return indices, p[indices]
