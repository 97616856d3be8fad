# task: residual-sum
def residual_sum(m, b, x, y):
    total = 0
    for i in range(len(x)):
        total = total + (m * x[i] + b - y[i]) ** 2
    return total
