# task: rates
# loses: rates-check
# hint: the warm-up is missing
def rates(eta, N, warm, total):
    values = []
    for t in range(total):
        rate = N * eta
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
