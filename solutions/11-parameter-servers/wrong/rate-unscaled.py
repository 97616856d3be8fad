# task: rate
# loses: rate-check
# hint: does not depend on the staleness
def scaled_rate(rate, staleness):
    return rate
