# task: staleness
# loses: staleness-check
# hint: these are the server's versions
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version)
        given[worker] = version + 1
    return counted
