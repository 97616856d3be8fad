# task: schedule
# loses: schedule-check
# hint: starts again at 0
def schedule(rate, epochs, steps, drops):
    rates = np.array([float(rate(t % steps)) for t in range(epochs * steps)])
    for drop in drops:
        rates[drop * steps :] /= 10
    return rates
