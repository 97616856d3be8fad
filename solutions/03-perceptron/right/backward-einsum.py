# task: backward
def backward(weights, X, V, Z, D, sigma_prime):
    G = np.einsum("nk,km->nm", D, weights[3]) * sigma_prime(V)
    return [
        np.einsum("nm->m", G),
        np.einsum("nm,np->mp", G, X),
        np.einsum("nk->k", D),
        np.einsum("nk,nm->km", D, Z),
    ]
