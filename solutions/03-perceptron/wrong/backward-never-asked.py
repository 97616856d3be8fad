# task: backward
# loses: backward-check
# hint: sigma_prime was never called
def backward(weights, X, V, Z, D, sigma_prime):
    beta = weights[3]
    G = D @ beta
    return [G.sum(axis=0), G.T @ X, D.sum(axis=0), D.T @ Z]
