# task: warm-up
# loses: warm-up-check
# hint: begins at 0
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return k * eta * min(t / warm, 1)
