# task: accumulate
# loses: accumulate-check
# hint: Take a local step after each
def accumulate(W, gradient, k, rate):
    total = np.zeros_like(W)
    for _ in range(k):
        step = gradient(W)
        total += step
    return total
