# task: backward
# loses: backward-check
# hint: each rank returns its own share of dX
def backward(comm, X, A, a, B, b, G):
    Z = X @ A + a
    H = np.maximum(Z, 0)
    dZ = (G @ B.T) * (Z > 0)
    return X.T @ dZ, dZ.sum(axis=0), H.T @ G, G.sum(axis=0), dZ @ A.T
