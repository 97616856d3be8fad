# task: hessian
def hessian(x):
    A = np.stack([x, np.ones(len(x))], axis=1)
    return 2 * A.T @ A
