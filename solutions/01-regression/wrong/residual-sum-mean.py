# task: residual-sum
# loses: residual-sum-check
# hint: do not divide by n
def residual_sum(m, b, x, y):
    return np.mean((y - (m * x + b)) ** 2)
