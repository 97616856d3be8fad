# task: crossover
# loses: crossover-check
# hint: yours gives
def crossover(N, alpha, beta):
    L = np.ceil(np.log2(N))
    return alpha * beta * (N - 1 - L) / (L - 1 / N)
