# task: schedule
# loses: schedule-check
# hint: Its t counts iterations
def schedule(rate, epochs, steps, drops):
    rates = np.array([float(rate(t // steps)) for t in range(epochs * steps)])
    for drop in drops:
        rates[drop * steps :] /= 10
    return rates
