# task: schedule
def schedule(rate, epochs, steps, drops):
    rates = []
    for epoch in range(epochs):
        passed = sum(epoch >= drop for drop in drops)
        for step in range(steps):
            rates.append(rate(epoch * steps + step) * 0.1**passed)
    return rates
