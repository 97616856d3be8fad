# task: rates
# loses: rates-check
# hint: are not divided by 10
def rates(eta, k, warm, total):
    values = []
    for t in range(total):
        rate = eta + (k - 1) * eta * min(t / warm, 1)
        values.append(rate)
    return values
