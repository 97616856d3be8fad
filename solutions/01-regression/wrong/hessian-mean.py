# task: hessian
# loses: hessian-check
# hint: divided by n
def hessian(x):
    return 2 * np.array([[np.mean(x**2), np.mean(x)], [np.mean(x), 1]])
