# task: hessian
# loses: hessian-check
# hint: not (Σx)²
def hessian(x):
    return 2 * np.array([[np.sum(x) ** 2, np.sum(x)], [np.sum(x), len(x)]])
