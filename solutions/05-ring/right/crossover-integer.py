# task: crossover
def crossover(N, alpha, beta):
    rounds = int(N - 1).bit_length()
    return N * alpha * beta * (N - 1 - rounds) / (N * rounds - N + 1)
