# task: released
# loses: released-check
# hint: worker 4 is not waiting
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in clocks if clocks[worker] - slowest <= s]
