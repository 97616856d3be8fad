# task: hessian
def hessian_of(A):
    k = A.shape[1]
    return np.array([[2 * sum(A[:, i] * A[:, j]) for j in range(k)] for i in range(k)])
