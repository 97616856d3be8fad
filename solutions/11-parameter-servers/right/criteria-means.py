# task: criteria
def examples_per_second(used, batch, seconds):
    return batch * np.asarray(used).sum() / seconds


def seconds_to(times, errors, goal):
    errors = np.asarray(errors)
    return times[np.argmax(errors <= goal)] if (errors <= goal).any() else None


def last_executor(durations):
    durations = np.asarray(durations)
    return 1 - durations.mean() / durations.max(axis=1).mean()
