# task: hessian
# loses: hessian-check
# hint: so are its derivatives
def hessian_of(A):
    return 2 * A.T @ A / len(A)
