# task: accumulate
# loses: accumulate-check
# hint: 7 is the way
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W - rate * step
    return rate * total
