# task: rate
# loses: rate-check
# hint: scaled_rate returned None
def scaled_rate(rate, staleness):
    rate / max(staleness, 1)
