# task: schedule
# loses: schedule-check
# hint: changes `tasks`
def schedule(tasks):
    ends, free = {}, {}
    while tasks:
        name, device, seconds, needs = tasks.pop(0)
        ends[name] = free[device] = max([free.get(device, 0), *(ends[need] for need in needs)]) + seconds
    return ends
