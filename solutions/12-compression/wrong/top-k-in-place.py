# task: top-k
# loses: top-k-check
# hint: changes `p`
def top_k(p, k):
    indices = np.argpartition(np.abs(p), len(p) - k)[len(p) - k :].astype(np.int32)
    p[:] = np.where(np.isin(np.arange(len(p)), indices), p, 0)
    return indices, p[indices]
