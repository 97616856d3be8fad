# task: top-k
# loses: top-k-check
# hint: yours have the shapes
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    return indices, np.where(np.isin(np.arange(len(p)), indices), p, 0)
