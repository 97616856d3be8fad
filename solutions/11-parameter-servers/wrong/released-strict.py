# task: released
# loses: released-check
# hint: up to and including s ahead
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in waiting if clocks[worker] - slowest < s]
