# task: weight-decay
# loses: weight-decay-check
# hint: makes the decay smaller
def scaled_step(w, g, eta, k, decay):
    return w - k * eta * (decay * w + g)


def decay_for_scaled_loss(decay, k):
    return decay / k
