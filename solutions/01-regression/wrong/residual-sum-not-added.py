# task: residual-sum
# loses: residual-sum-check
# hint: add the squares up
def residual_sum(m, b, x, y):
    return (y - (m * x + b)) ** 2
