# task: residual-sum
# loses: residual-sum-check
# hint: changes `y`
def residual_sum(m, b, x, y):
    y -= m * x + b
    return np.sum(y**2)
