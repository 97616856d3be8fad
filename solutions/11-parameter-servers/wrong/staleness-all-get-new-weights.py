# task: staleness
# loses: staleness-check
# hint: only the worker that pushed gets the new weights
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version - given[worker])
        given = dict.fromkeys(given, version + 1)
    return counted
