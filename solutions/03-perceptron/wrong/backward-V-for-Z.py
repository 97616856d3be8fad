# task: backward
# loses: backward-check
# hint: multiply D by Z, not by V
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta * sigma_prime(V)
    return [G.sum(axis=0), G.T @ X, D.sum(axis=0), D.T @ V]
