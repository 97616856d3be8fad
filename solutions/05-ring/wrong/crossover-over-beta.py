# task: crossover
# loses: crossover-check
# hint: The unit must be bytes
def crossover(N, alpha, beta):
    L = np.ceil(np.log2(N))
    return alpha / beta * (N - 1 - L) / (L - (N - 1) / N)
