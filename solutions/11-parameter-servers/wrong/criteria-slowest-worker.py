# task: criteria
# loses: criteria-check
# hint: may be another one in each round
def examples_per_second(used, batch, seconds):
    return np.sum(used) * batch / seconds


def seconds_to(times, errors, goal):
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else None


def last_executor(durations):
    available = np.shape(durations)[1] * np.max(np.sum(durations, axis=0))
    return 1 - np.sum(durations) / available
