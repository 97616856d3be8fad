# task: rate
# loses: rate-check
# hint: the freshest of all
def scaled_rate(rate, staleness):
    return rate / staleness if staleness else 0.0
