# task: staleness
# loses: staleness-check
# hint: workers have the numbers 1 to N
def count_staleness(pushes, N):
    given = dict.fromkeys(range(N), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version - given[worker])
        given[worker] = version + 1
    return counted
