# task: weight-decay
# loses: weight-decay-check
# hint: the learning rate is not scaled
def scaled_step(w, g, eta, k, decay):
    return w - eta * (decay * w + g)


def decay_for_scaled_loss(decay, k):
    return k * decay
