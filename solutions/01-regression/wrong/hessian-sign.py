# task: hessian
# loses: hessian-check
# hint: so the product is plus
def hessian_of(A):
    return -2 * A.T @ A
