# task: warm-up
# loses: warm-up-check
# hint: is 0.6
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return eta + k * eta * min(t / warm, 1)
