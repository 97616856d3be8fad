# task: two-ways
# loses: two-ways-check
# hint: 1.0 is the sum
def average_weights(step, w, states, gradients):
    results = [step(w, g, state) for g, state in zip(gradients, states, strict=True)]
    return np.sum([new for new, _ in results], axis=0), [state for _, state in results]


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
