# task: warm-up
# loses: warm-up-check
# hint: gradual does not stop at k
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return eta + (k * eta - eta) * t / warm
