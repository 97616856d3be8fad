# task: accuracies
# loses: accuracies-check
# hint: divide it by 1 - p_e
def accuracies(C):
    n, rows, columns = C.sum(), C.sum(axis=1), C.sum(axis=0)
    there = rows > 0
    overall = np.trace(C) / n
    average = np.mean(np.diag(C)[there] / rows[there])
    return [overall, average, overall - np.sum(rows * columns) / n**2]
