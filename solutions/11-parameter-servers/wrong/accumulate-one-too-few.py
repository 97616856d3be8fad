# task: accumulate
# loses: accumulate-check
# hint: one gradient too few
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k - 1):
        step = gradient(W)
        total += step
        W = W - rate * step
    return total
