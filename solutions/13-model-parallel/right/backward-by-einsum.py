# task: backward
def backward(comm, X, A, a, B, b, G):
    Z = np.einsum("ri,ih->rh", X, A) + a
    passes = (Z > 0).astype(float)
    dZ = np.einsum("ro,ho->rh", G, B) * passes
    dX = parallel.all_reduce(comm, np.einsum("rh,ih->ri", dZ, A))
    return np.einsum("ri,rh->ih", X, dZ), np.ones(len(X)) @ dZ, (Z * passes).T @ G, np.ones(len(X)) @ G, dX
