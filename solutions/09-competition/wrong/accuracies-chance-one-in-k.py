# task: accuracies
# loses: accuracies-check
# hint: you use 1/K for the accuracy by chance
def accuracies(C):
    n, rows = C.sum(), C.sum(axis=1)
    there = rows > 0
    overall = np.trace(C) / n
    average = np.mean(np.diag(C)[there] / rows[there])
    chance = 1 / len(C)
    return [overall, average, (overall - chance) / (1 - chance)]
