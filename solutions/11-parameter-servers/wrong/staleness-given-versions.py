# task: staleness
# loses: staleness-check
# hint: these are the versions that were given
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(given[worker])
        given[worker] = version + 1
    return counted
