# task: rate
def scaled_rate(rate, staleness):
    if staleness == 0:
        return rate
    return rate / staleness
