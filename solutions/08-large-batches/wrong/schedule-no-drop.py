# task: schedule
# loses: schedule-check
# hint: never drops
def schedule(rate, epochs, steps, drops):
    return np.array([float(rate(t)) for t in range(epochs * steps)])
