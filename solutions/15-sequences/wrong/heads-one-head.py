# task: heads
# loses: heads-check
# hint: all columns went into one attention
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    return np.asarray(attend(X @ Wq, X @ Wk, X @ Wv)) @ Wo
