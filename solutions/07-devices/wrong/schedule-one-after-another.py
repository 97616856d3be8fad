# task: schedule
# loses: schedule-check
# hint: b waits for a in yours
def schedule(tasks):
    """When each task ends: a dict from its name to seconds.

    tasks: a list of (name, device, seconds, needs); needs is a list of names of tasks that stand before it.
    """
    ends, clock = {}, 0
    for name, _, seconds, _ in tasks:
        clock += seconds
        ends[name] = clock
    return ends
