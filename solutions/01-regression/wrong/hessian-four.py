# task: hessian
# loses: hessian-check
# hint: the square gives it once
def hessian_of(A):
    return 4 * A.T @ A
