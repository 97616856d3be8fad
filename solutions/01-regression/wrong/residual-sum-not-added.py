# task: residual-sum
# loses: residual-sum-check
# hint: forget to add the squares
def residual_sum(m, b, x, y):
    return (y - (m * x + b)) ** 2
