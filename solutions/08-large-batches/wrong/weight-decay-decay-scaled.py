# task: weight-decay
# loses: weight-decay-check
# hint: only the decay's term is scaled
def scaled_step(w, g, eta, k, decay):
    return w - eta * (k * decay * w + g)


def decay_for_scaled_loss(decay, k):
    return k * decay
