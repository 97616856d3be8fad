# task: accumulate
# loses: accumulate-check
# hint: accumulate returned None
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W - rate * step
