# task: released
# loses: released-check
# hint: you compare with the fastest
def released(clocks, waiting, s):
    slowest = max(clocks.values())
    return [worker for worker in waiting if slowest - clocks[worker] <= s]
