# task: accuracies
# loses: accuracies-check
# hint: you divide by the sums of columns
def accuracies(C):
    n, rows, columns = C.sum(), C.sum(axis=1), C.sum(axis=0)
    overall = np.trace(C) / n
    there = columns > 0
    average = np.mean(np.diag(C)[there] / columns[there])
    chance = np.sum(rows * columns) / n**2
    return [overall, average, (overall - chance) / (1 - chance)]
