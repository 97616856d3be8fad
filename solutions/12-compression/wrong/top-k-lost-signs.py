# task: top-k
# loses: top-k-check
# hint: lost their signs
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    return indices, np.abs(p)[indices]
