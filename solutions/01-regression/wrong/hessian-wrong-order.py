# task: hessian
# loses: hessian-check
# hint: one row per point: the product is
def hessian_of(A):
    return 2 * A @ A.T
