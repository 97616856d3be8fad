# task: backward
# loses: backward-check
# hint: changes `G`
def backward(comm, X, A, a, B, b, G):
    Z = X @ A + a
    H = np.maximum(Z, 0)
    dZ = (G @ B.T) * (Z > 0)
    G *= 1.0 + 0 * comm.size
    G += 1
    dX = parallel.all_reduce(comm, dZ @ A.T)
    return X.T @ dZ, dZ.sum(axis=0), H.T @ (G - 1), (G - 1).sum(axis=0), dX
