# task: residual-sum
# loses: residual-sum-check
# hint: the first point is missing
def residual_sum(m, b, x, y):
    total = 0
    for i in range(1, len(x)):
        total = total + (y[i] - (m * x[i] + b)) ** 2
    return total
