# task: accumulate
# loses: accumulate-check
# hint: this is the mean of the gradients
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
        W = W - rate * step
    return total / k
