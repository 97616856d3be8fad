# task: schedule
# loses: schedule-check
# hint: b starts when GPU:0 is free
def schedule(tasks):
    """When each task ends: a dict from its name to seconds.

    tasks: a list of (name, device, seconds, needs); needs is a list of names of tasks that stand before it.
    """
    ends = {}
    for name, _, seconds, needs in tasks:
        ends[name] = max([ends[need] for need in needs], default=0) + seconds
    return ends
