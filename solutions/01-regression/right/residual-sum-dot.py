# task: residual-sum
def residual_sum(m, b, x, y):
    misses = y - predict(m, b, x)
    return misses @ misses
