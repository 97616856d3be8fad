# task: top-k
# loses: top-k-check
# hint: the indices and the values
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    return (p[indices],)
