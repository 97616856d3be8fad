# task: backward
def backward(weights, X, V, Z, D, sigma_prime):
    slopes = sigma_prime(V)
    total = [np.zeros_like(w) for w in weights]
    for i in range(len(X)):
        g = slopes[i] * (weights[3].T @ D[i])
        for sum_, part in zip(total, [g, np.outer(g, X[i]), D[i], np.outer(D[i], Z[i])], strict=True):
            sum_ += part
    return total
