# task: two-ways
# loses: two-ways-check
# hint: so two states come back
def average_weights(step, w, states, gradients):
    results = [step(w, g, state) for g, state in zip(gradients, states, strict=True)]
    return np.mean([new for new, _ in results], axis=0), [results[0][1]]


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
