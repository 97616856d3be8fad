# task: rates
# loses: rates-check
# hint: it begins at 0
def rates(eta, N, warm, total):
    values = []
    for t in range(total):
        rate = N * eta * min(t / warm, 1)
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
