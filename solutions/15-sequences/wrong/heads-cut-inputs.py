# task: heads
# loses: heads-check
# hint: two heads: expected
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    e, out = X.shape[1] // heads, []
    for head in range(heads):
        own = slice(head * e, (head + 1) * e)
        out.append(attend(*(X[:, own] @ W[own, own] for W in (Wq, Wk, Wv))))
    return np.hstack(out) @ Wo
