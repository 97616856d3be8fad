# task: residual-sum
# loses: residual-sum-check
# hint: brackets matter
def residual_sum(m, b, x, y):
    return np.sum((y - m * x + b) ** 2)
