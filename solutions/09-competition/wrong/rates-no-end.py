# task: rates
# loses: rates-check
# hint: the last quarter has a tenth of the rate
def rates(eta, N, warm, total):
    values = []
    for t in range(total):
        rate = eta + (N - 1) * eta * min(t / warm, 1)
        values.append(rate)
    return values
