# task: schedule
# loses: schedule-check
# hint: too few digits
def schedule(rate, epochs, steps, drops):
    rates = np.array([rate(t) for t in range(epochs * steps)], dtype=np.float32)
    for drop in drops:
        rates[drop * steps :] /= 10
    return rates
