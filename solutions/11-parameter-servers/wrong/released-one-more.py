# task: released
# loses: released-check
# hint: worker 3 is 3 ahead
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in waiting if clocks[worker] - slowest <= s + 1]
