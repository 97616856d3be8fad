# task: released
# loses: released-check
# hint: a push may release several
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    return [worker for worker in waiting[-1:] if clocks[worker] - slowest <= s]
