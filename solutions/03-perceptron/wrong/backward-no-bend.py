# task: backward
# loses: backward-check
# hint: the factor σ' is missing in G
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta + 0 * sigma_prime(V)
    return [G.sum(axis=0), G.T @ X, D.sum(axis=0), D.T @ Z]
