# task: residual-sum
# loses: residual-sum-check
# hint: Is `return` inside the loop
def residual_sum(m, b, x, y):
    total = 0
    for i in range(len(x)):
        total = total + (y[i] - (m * x[i] + b)) ** 2
        return total
