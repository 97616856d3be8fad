# task: staleness
# loses: staleness-check
# hint: you count the pushes of the worker itself
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(given[worker])
        given[worker] += 1
    return counted
