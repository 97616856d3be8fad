# task: hessian
# loses: hessian-check
# hint: 2·n
def hessian(x):
    return 2 * np.array([[np.sum(x**2), np.sum(x)], [np.sum(x), 1]])
