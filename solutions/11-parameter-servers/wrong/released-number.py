# task: released
# loses: released-check
# hint: returns a list of workers
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return sum(clocks[worker] - slowest <= s for worker in waiting)
