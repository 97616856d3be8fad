# task: attention
# loses: attention-check
# hint: returned float32
def attend(Q, K, V):
    """Causal scaled dot-product attention, shape (T, m). Q, K: shape (T, dk). V: shape (T, m)."""
    scores = np.where(np.tri(len(Q)) > 0, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32) @ V.astype(np.float32)
