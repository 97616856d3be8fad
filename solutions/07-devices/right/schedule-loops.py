# task: schedule
def schedule(tasks):
    """When each task ends: a dict from its name to seconds.

    tasks: a list of (name, device, seconds, needs); needs is a list of names of tasks that stand before it.
    """
    ends, free = {}, {}
    for name, device, seconds, needs in tasks:
        begin = 0
        if device in free:
            begin = free[device]
        for need in needs:
            begin = max(begin, ends[need])
        ends[name] = begin + seconds
        free[device] = ends[name]
    return ends
