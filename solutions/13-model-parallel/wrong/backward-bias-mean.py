# task: backward
# loses: backward-check
# hint: da should be
def backward(comm, X, A, a, B, b, G):
    Z = X @ A + a
    H = np.maximum(Z, 0)
    dZ = (G @ B.T) * (Z > 0)
    dX = parallel.all_reduce(comm, dZ @ A.T)
    return X.T @ dZ, dZ.mean(axis=0), H.T @ G, G.sum(axis=0), dX
