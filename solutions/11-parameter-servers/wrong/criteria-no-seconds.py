# task: criteria
# loses: criteria-check
# hint: 960 examples were used
def examples_per_second(used, batch, seconds):
    return np.sum(used) * batch


def seconds_to(times, errors, goal):
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else None


def last_executor(durations):
    available = np.shape(durations)[1] * np.max(durations, axis=1).sum()
    return 1 - np.sum(durations) / available
