# task: warm-up
# loses: warm-up-check
# hint: gradual returned None
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    rate = eta + (k * eta - eta) * min(t / warm, 1)
