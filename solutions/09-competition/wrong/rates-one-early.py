# task: rates
# loses: rates-check
# hint: the warm-up ends one iteration too early
def rates(eta, k, warm, total):
    values = []
    for t in range(total):
        rate = eta + (k - 1) * eta * min(t / (warm - 1), 1)
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
