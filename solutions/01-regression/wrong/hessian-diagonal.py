# task: hessian
# loses: hessian-check
# hint: only the diagonal is filled
def hessian_of(A):
    return np.diag(2 * np.sum(A**2, axis=0))
