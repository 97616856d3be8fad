# task: weight-decay
# loses: weight-decay-check
# hint: the weight decay is missing
def scaled_step(w, g, eta, k, decay):
    return w - k * eta * g


def decay_for_scaled_loss(decay, k):
    return k * decay
