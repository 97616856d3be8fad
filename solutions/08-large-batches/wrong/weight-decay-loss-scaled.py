# task: weight-decay
# loses: weight-decay-check
# hint: only the gradient is scaled by k
def scaled_step(w, g, eta, k, decay):
    return w - eta * (decay * w + k * g)


def decay_for_scaled_loss(decay, k):
    return k * decay
