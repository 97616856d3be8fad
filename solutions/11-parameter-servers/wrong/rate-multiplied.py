# task: rate
# loses: rate-check
# hint: you multiply
def scaled_rate(rate, staleness):
    return rate * max(staleness, 1)
