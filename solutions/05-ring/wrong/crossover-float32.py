# task: crossover
# loses: crossover-check
# hint: N = 64
def crossover(N, alpha, beta):
    L = np.ceil(np.log2(N))
    return np.float32(alpha * beta * (N - 1 - L) / (L - (N - 1) / N))
