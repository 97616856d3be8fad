# task: top-k
# loses: top-k-check
# hint: top_k returned None
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    indices, p[indices]
