# task: schedule
# loses: schedule-check
# hint: Drops are counted in epochs
def schedule(rate, epochs, steps, drops):
    rates = np.array([float(rate(t)) for t in range(epochs * steps)])
    for drop in drops:
        rates[drop:] /= 10
    return rates
