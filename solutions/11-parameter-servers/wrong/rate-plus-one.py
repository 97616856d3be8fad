# task: rate
# loses: rate-check
# hint: the staleness plus 1
def scaled_rate(rate, staleness):
    return rate / (staleness + 1)
