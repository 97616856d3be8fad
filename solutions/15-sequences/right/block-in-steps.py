# task: block
def norm(X, gamma, beta):
    rows = []
    for row in X:
        rows.append((row - row.mean()) / (row.var() + 1e-5) ** 0.5)
    return np.array(rows) * gamma + beta


def block(X, attention, norm1, norm2, A, a, B, b):
    seen = np.asarray(attention(norm(X, norm1[0], norm1[1])))
    middle = np.add(X, seen)
    hidden = np.dot(norm(middle, norm2[0], norm2[1]), A) + a
    hidden = np.where(hidden > 0, hidden, 0.0)
    return hidden @ B + b + middle
