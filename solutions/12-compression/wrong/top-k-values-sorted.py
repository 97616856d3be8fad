# task: top-k
# loses: top-k-check
# hint: value j belongs to index j
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    return indices, np.sort(p[indices])
