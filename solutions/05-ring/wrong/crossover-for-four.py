# task: crossover
# loses: crossover-check
# hint: N = 64
def crossover(N, alpha, beta):
    return 0.8 * alpha * beta
