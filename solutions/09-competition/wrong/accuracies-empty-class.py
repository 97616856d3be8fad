# task: accuracies
# loses: accuracies-check
# hint: Leave such rows out of the average
def accuracies(C):
    n, rows, columns = C.sum(), C.sum(axis=1), C.sum(axis=0)
    overall = np.trace(C) / n
    with np.errstate(all="ignore"):
        average = np.mean(np.diag(C) / rows)
    chance = np.sum(rows * columns) / n**2
    return [overall, average, (overall - chance) / (1 - chance)]
