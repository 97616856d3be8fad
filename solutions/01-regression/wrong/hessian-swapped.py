# task: hessian
# loses: hessian-check
# hint: the order is m, b
def hessian(x):
    return 2 * np.array([[len(x), np.sum(x)], [np.sum(x), np.sum(x**2)]])
