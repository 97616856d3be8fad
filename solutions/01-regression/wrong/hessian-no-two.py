# task: hessian
# loses: hessian-check
# hint: factor 2 is missing
def hessian(x):
    return np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), len(x)]])
