# task: two-ways
# loses: two-ways-check
# hint: both workers used the same state
def average_weights(step, w, states, gradients):
    results = [step(w, g, states[0]) for g in gradients]
    return np.mean([new for new, _ in results], axis=0), [state for _, state in results]


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
