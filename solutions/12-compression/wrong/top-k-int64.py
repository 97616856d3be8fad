# task: top-k
# loses: top-k-check
# hint: indices are int32, 4 bytes each
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :]
    return indices, p[indices]
