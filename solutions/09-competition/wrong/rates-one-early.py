# task: rates
# loses: rates-check
# hint: one iteration early: at t = warm
def rates(eta, N, warm, total):
    values = []
    for t in range(total):
        rate = eta + (N - 1) * eta * min(t / (warm - 1), 1)
        values.append(rate / 10 if t >= 0.75 * total else rate)
    return values
