# task: weight-decay
# loses: weight-decay-check
# hint: pulls w towards 0
def scaled_step(w, g, eta, k, decay):
    return w - k * eta * (g - decay * w)


def decay_for_scaled_loss(decay, k):
    return k * decay
