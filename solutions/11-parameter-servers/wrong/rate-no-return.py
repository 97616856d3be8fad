# task: rate
# loses: rate-check
# hint: None
def scaled_rate(rate, staleness):
    rate / max(staleness, 1)
