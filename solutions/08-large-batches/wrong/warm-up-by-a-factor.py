# task: warm-up
# loses: warm-up-check
# hint: by the same factor
def constant(t, warm, eta, k):
    return eta if t < warm else k * eta


def gradual(t, warm, eta, k):
    return eta * k ** min(t / warm, 1)
