# task: residual-sum
# loses: residual-sum-check
# hint: Square each residual first
def residual_sum(m, b, x, y):
    return np.sum(y - (m * x + b)) ** 2
