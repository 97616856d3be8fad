# task: heads
# loses: heads-check
# hint: a head has neighbouring columns
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    out = np.zeros(X.shape)
    for head in range(heads):
        out[:, head::heads] = attend(*((X @ W)[:, head::heads] for W in (Wq, Wk, Wv)))
    return out @ Wo
