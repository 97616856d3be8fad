# task: accumulate
# loses: accumulate-check
# hint: 2 is the last gradient alone
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W - rate * step
    return step
