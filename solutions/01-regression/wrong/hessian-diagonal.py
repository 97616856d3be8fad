# task: hessian
# loses: hessian-check
# hint: R_mb is not zero
def hessian(x):
    return 2 * np.diag([np.sum(x**2), len(x)])
