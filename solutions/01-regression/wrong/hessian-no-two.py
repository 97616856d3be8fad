# task: hessian
# loses: hessian-check
# hint: stays when you differentiate a second time
def hessian_of(A):
    return A.T @ A
