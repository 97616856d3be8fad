# task: rates
# loses: rates-check
# hint: it is not scaled by the number of ranks
def rates(eta, k, warm, total):
    values = []
    for t in range(total):
        rate = eta
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
