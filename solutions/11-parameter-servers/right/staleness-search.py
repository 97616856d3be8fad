# task: staleness
def count_staleness(pushes, N):
    counted = []
    for i, worker in enumerate(pushes):
        before = [j + 1 for j in range(i) if pushes[j] == worker]
        counted.append(i - max(before, default=0))
    return counted
