# task: criteria
# loses: criteria-check
# hint: never reached, so
def examples_per_second(used, batch, seconds):
    return np.sum(used) * batch / seconds


def seconds_to(times, errors, goal):
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else times[-1]


def last_executor(durations):
    available = np.shape(durations)[1] * np.max(durations, axis=1).sum()
    return 1 - np.sum(durations) / available
