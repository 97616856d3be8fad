# task: warm-up
# loses: warm-up-check
# hint: gradual ends at eta + k
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return eta + k * eta * min(t / warm, 1)
