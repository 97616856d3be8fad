# task: released
# loses: released-check
# hint: you released the worker that must wait
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in waiting if clocks[worker] - slowest > s]
