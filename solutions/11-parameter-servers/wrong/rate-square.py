# task: rate
# loses: rate-check
# hint: in another way
def scaled_rate(rate, staleness):
    return rate / max(staleness, 1) ** 2
