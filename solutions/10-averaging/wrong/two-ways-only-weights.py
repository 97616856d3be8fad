# task: two-ways
# loses: two-ways-check
# hint: the average weights and the list of states
def average_weights(step, w, states, gradients):
    return np.mean([step(w, g, state)[0] for g, state in zip(gradients, states, strict=True)], axis=0)[:1]


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
