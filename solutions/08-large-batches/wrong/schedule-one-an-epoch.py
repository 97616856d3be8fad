# task: schedule
# loses: schedule-check
# hint: The schedule has one per iteration
def schedule(rate, epochs, steps, drops):
    rates = np.array([float(rate(epoch)) for epoch in range(epochs)])
    for drop in drops:
        rates[drop:] /= 10
    return rates
