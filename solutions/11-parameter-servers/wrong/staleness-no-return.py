# task: staleness
# loses: staleness-check
# hint: count_staleness returned None
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted.append(version - given[worker])
        given[worker] = version + 1
