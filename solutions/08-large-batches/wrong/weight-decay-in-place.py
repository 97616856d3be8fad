# task: weight-decay
# loses: weight-decay-check
# hint: changes `w`
def scaled_step(w, g, eta, k, decay):
    w -= k * eta * (decay * w + g)
    return w


def decay_for_scaled_loss(decay, k):
    return k * decay
