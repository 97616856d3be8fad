# task: residual-sum
# loses: residual-sum-check
# hint: R adds squares
def residual_sum(m, b, x, y):
    return np.sum(np.abs(y - (m * x + b)))
