# task: released
# loses: released-check
# hint: released returned None
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    _ = [worker for worker in waiting if clocks[worker] - slowest <= s]
