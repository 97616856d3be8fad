# task: backward
# loses: backward-check
# hint: the gradient of α is transposed
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta * sigma_prime(V)
    return [G.sum(axis=0), X.T @ G, D.sum(axis=0), D.T @ Z]
