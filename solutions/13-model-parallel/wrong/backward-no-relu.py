# task: backward
# loses: backward-check
# hint: dA is that without the ReLU
def backward(comm, X, A, a, B, b, G):
    H = np.maximum(X @ A + a, 0)
    dZ = G @ B.T
    dX = parallel.all_reduce(comm, dZ @ A.T)
    return X.T @ dZ, dZ.sum(axis=0), H.T @ G, G.sum(axis=0), dX
