# task: warm-up
# loses: warm-up-check
# hint: that is no warm-up
def constant(t, warm, eta, k):
    return k * eta


def gradual(t, warm, eta, k):
    return eta + (k * eta - eta) * min(t / warm, 1)
