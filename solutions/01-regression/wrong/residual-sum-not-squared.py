# task: residual-sum
# loses: residual-sum-check
# hint: they cancel
def residual_sum(m, b, x, y):
    return np.sum(y - (m * x + b))
