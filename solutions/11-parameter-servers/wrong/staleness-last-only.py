# task: staleness
# loses: staleness-check
# hint: six gradients have six numbers
def count_staleness(pushes, N):
    given = dict.fromkeys(range(1, N + 1), 0)
    counted = []
    for version, worker in enumerate(pushes):
        counted = [version - given[worker]]
        given[worker] = version + 1
    return counted
