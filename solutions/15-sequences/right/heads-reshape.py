# task: heads
def multi_head(X, Wq, Wk, Wv, Wo, heads, attend):
    Q, K, V = (np.dot(X, W).reshape(len(X), heads, -1).transpose(1, 0, 2) for W in (Wq, Wk, Wv))
    sides = np.stack([attend(Q[i], K[i], V[i]) for i in range(heads)], axis=1)
    return sides.reshape(X.shape) @ Wo
