# task: backward
# loses: backward-check
# hint: add D over the examples
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta * sigma_prime(V)
    return [G.mean(axis=0), G.T @ X, D.mean(axis=0), D.T @ Z]
