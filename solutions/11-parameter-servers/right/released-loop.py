# task: released
def released(clocks, waiting, s):
    free = []
    for worker in waiting:
        if clocks[worker] <= min(clocks.values()) + s:
            free.append(worker)
    return free
