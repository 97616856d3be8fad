# task: crossover
# loses: crossover-check
# hint: your n is negative
def crossover(N, alpha, beta):
    L = np.ceil(np.log2(N))
    return alpha * beta * (N - 1 - L) / ((N - 1) / N - L)
