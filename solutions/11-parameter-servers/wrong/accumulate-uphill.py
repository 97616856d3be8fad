# task: accumulate
# loses: accumulate-check
# hint: the local steps go uphill
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W + rate * step
    return total
