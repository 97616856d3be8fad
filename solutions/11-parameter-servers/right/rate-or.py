# task: rate
def scaled_rate(rate, staleness):
    return rate / (staleness or 1)
