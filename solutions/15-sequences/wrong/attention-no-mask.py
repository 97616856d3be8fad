# task: attention
# loses: attention-check
# hint: the causal mask is missing
def attend(Q, K, V):
    """Causal scaled dot-product attention, shape (T, m). Q, K: shape (T, dk). V: shape (T, m)."""
    scores = Q @ K.T / np.sqrt(Q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ V
