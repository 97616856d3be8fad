# task: residual-sum
# loses: residual-sum-check
# hint: b is missing
def residual_sum(m, b, x, y):
    return np.sum((y - m * x) ** 2)
