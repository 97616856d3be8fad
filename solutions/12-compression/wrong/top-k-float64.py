# task: top-k
# loses: top-k-check
# hint: values are float32 like p
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    return indices, p[indices].astype(float)
