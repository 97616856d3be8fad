# task: backward
# loses: backward-check
# hint: another order than the weights
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta * sigma_prime(V)
    return [D.sum(axis=0), D.T @ Z, G.sum(axis=0), G.T @ X]
