# task: criteria
# loses: criteria-check
# hint: the mean of the rounds' shares
def examples_per_second(used, batch, seconds):
    return np.sum(used) * batch / seconds


def seconds_to(times, errors, goal):
    reached = np.flatnonzero(np.asarray(errors) <= goal)
    return times[reached[0]] if len(reached) else None


def last_executor(durations):
    return np.mean(1 - np.mean(durations, axis=1) / np.max(durations, axis=1))
