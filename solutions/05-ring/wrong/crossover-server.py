# task: crossover
# loses: crossover-check
# hint: n = 0.8 · 1000 = 800 bytes
def crossover(N, alpha, beta):
    L = np.ceil(np.log2(N))
    return alpha * beta * (N - 1 - L) / (L - 1 / N)
