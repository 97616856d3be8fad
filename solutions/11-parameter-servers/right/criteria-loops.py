# task: criteria
def examples_per_second(used, batch, seconds):
    return sum(batch * each for each in used) / seconds


def seconds_to(times, errors, goal):
    for time, error in zip(times, errors, strict=True):
        if error <= goal:
            return time
    return None


def last_executor(durations):
    waiting = whole = 0.0
    for row in durations:
        waiting += sum(max(row) - each for each in row)
        whole += max(row) * len(row)
    return waiting / whole
