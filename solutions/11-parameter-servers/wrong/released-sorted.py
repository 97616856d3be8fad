# task: released
# loses: released-check
# hint: keep the order of `waiting`
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in sorted(waiting) if clocks[worker] - slowest <= s]
