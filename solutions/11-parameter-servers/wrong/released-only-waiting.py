# task: released
# loses: released-check
# hint: waiting or not
def released(clocks, waiting, s):
    slowest = min(clocks[worker] for worker in waiting)
    return [worker for worker in waiting if clocks[worker] - slowest <= s]
