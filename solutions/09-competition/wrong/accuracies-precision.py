# task: accuracies
# loses: accuracies-check
# hint: the average divides by the columns' sums
def accuracies(C):
    n, rows, columns = C.sum(), C.sum(axis=1), C.sum(axis=0)
    overall = np.trace(C) / n
    there = columns > 0
    average = np.mean(np.diag(C)[there] / columns[there])
    chance = np.sum(rows * columns) / n**2
    return [overall, average, (overall - chance) / (1 - chance)]
