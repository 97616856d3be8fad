# task: rate
# loses: rate-check
# hint: a staleness of 0 occurs
def scaled_rate(rate, staleness):
    return rate / staleness
