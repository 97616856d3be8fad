# task: two-ways
# loses: two-ways-check
# hint: the states were averaged too
def average_weights(step, w, states, gradients):
    results = [step(w, g, state) for g, state in zip(gradients, states, strict=True)]
    v = np.mean([state for _, state in results], axis=0)
    return np.mean([new for new, _ in results], axis=0), [v] * len(states)


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
