# task: schedule
# loses: schedule-check
# hint: merge starts when a is done in yours
def schedule(tasks):
    """When each task ends: a dict from its name to seconds.

    tasks: a list of (name, device, seconds, needs); needs is a list of names of tasks that stand before it.
    """
    ends, free = {}, {}
    for name, device, seconds, needs in tasks:
        start = max(free.get(device, 0), min([ends[need] for need in needs], default=0))
        ends[name] = free[device] = start + seconds
    return ends
