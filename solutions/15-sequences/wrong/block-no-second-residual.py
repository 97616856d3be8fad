# task: block
# loses: block-check
# hint: the block differs
def norm(X, gamma, beta):
    """The layer normalization of each row of X, shape (T, d). gamma, beta: shape (d,)."""
    centred = X - X.mean(axis=1, keepdims=True)
    return gamma * centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) + beta


def block(X, attention, norm1, norm2, A, a, B, b):
    """A transformer's block, shape (T, d).

    attention(X): the attention's result, shape (T, d). norm1, norm2: pairs (gamma, beta). A: (d, h). a: (h,). B: (h, d).
    b: (d,).
    """
    Y = X + attention(norm(X, *norm1))
    return np.maximum(norm(Y, *norm2) @ A + a, 0) @ B + b
