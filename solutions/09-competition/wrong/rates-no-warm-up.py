# task: rates
# loses: rates-check
# hint: the warm-up is missing
def rates(eta, k, warm, total):
    values = []
    for t in range(total):
        rate = k * eta
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
