# task: crossover
# loses: crossover-check
# hint: Is your L rounded up
def crossover(N, alpha, beta):
    L = np.log2(N)
    return alpha * beta * (N - 1 - L) / (L - (N - 1) / N)
