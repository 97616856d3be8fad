# task: schedule
# loses: schedule-check
# hint: divides by 10 once more
def schedule(rate, epochs, steps, drops):
    rates = np.array([float(rate(t)) for t in range(epochs * steps)])
    for t in range(epochs * steps):
        if any(t >= drop * steps for drop in drops):
            rates[t] /= 10
    return rates
