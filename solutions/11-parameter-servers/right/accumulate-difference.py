# task: accumulate
def accumulate(W, gradient, k, rate):
    here = np.array(W)
    for _ in range(k):
        here -= rate * gradient(here)
    return (W - here) / rate
