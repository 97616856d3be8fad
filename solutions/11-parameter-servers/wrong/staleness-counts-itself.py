# task: staleness
# loses: staleness-check
# hint: the first gradient has staleness 0
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version + 1 - given[worker])
        given[worker] = version + 1
    return counted
