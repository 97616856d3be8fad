# task: accuracies
# loses: accuracies-check
# hint: you multiply row i by row i
def accuracies(C):
    n, rows = C.sum(), C.sum(axis=1)
    there = rows > 0
    overall = np.trace(C) / n
    average = np.mean(np.diag(C)[there] / rows[there])
    chance = np.sum(rows * rows) / n**2
    return [overall, average, (overall - chance) / (1 - chance)]
