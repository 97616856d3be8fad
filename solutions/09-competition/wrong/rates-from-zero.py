# task: rates
# loses: rates-check
# hint: the first rate is 0
def rates(eta, k, warm, total):
    values = []
    for t in range(total):
        rate = k * eta * min(t / warm, 1)
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
