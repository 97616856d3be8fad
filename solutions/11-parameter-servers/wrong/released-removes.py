# task: released
# loses: released-check
# hint: changes `waiting`
def released(clocks, waiting, s):
    slowest = min(clocks.values())
    free = [worker for worker in waiting if clocks[worker] - slowest <= s]
    for worker in free:
        waiting.remove(worker)
    return free
