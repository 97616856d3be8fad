# task: two-ways
# loses: two-ways-check
# hint: the old states came back
def average_weights(step, w, states, gradients):
    return np.mean([step(w, g, state)[0] for g, state in zip(gradients, states, strict=True)], axis=0), states


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
