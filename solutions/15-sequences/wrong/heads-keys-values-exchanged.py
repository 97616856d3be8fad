# task: heads
# loses: heads-check
# hint: two heads: expected
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    """Attention with several heads, shape (T, d). X: shape (T, d). Wq, Wk, Wv, Wo: shape (d, d); heads divides d.

    attend(Q, K, V): the attention of one head, as in the task above.
    """
    groups = (np.split(X @ W, heads, axis=1) for W in (Wq, Wv, Wk))
    return np.hstack([attend(*head) for head in zip(*groups, strict=True)]) @ Wo
