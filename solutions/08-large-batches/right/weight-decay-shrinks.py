# task: weight-decay
def scaled_step(w, g, eta, k, decay):
    return (1 - k * eta * decay) * w - (k * eta) * g


def decay_for_scaled_loss(decay, k):
    return decay * k
