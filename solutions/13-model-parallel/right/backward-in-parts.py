# task: backward
def backward(comm, X, A, a, B, b, G):
    H = np.maximum(X @ A + a, 0)
    dZ = np.where(H > 0, G @ B.T, 0.0)
    share = dZ @ A.T
    dX = parallel.all_gather(comm, parallel.reduce_scatter(comm, share), share.size).reshape(share.shape)
    return [X.T @ dZ, dZ.sum(0), H.T @ G, G.sum(0), dX]
