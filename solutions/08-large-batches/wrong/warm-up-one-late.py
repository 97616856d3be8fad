# task: warm-up
# loses: warm-up-check
# hint: gradual reaches k · eta one iteration late
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return eta + (k * eta - eta) * min(t / (warm + 1), 1)
