# task: criteria
# loses: criteria-check
# hint: sets no pace for the other rounds
def examples_per_second(used, batch, seconds):
    return np.sum(used) * batch / seconds


def seconds_to(times, errors, goal):
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else None


def last_executor(durations):
    available = np.size(durations) * np.max(durations)
    return 1 - np.sum(durations) / available
