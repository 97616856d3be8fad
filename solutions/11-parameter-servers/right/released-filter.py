# task: released
def released(clocks, waiting, s):
    return list(filter(lambda worker: all(clocks[worker] <= other + s for other in clocks.values()), waiting))
