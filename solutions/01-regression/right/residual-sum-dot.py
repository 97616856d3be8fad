# task: residual-sum
def residual_sum(m, b, x, y):
    misses = y - line(m, b, x)
    return misses @ misses
