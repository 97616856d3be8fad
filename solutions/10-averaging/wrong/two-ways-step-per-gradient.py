# task: two-ways
# loses: two-ways-check
# hint: two steps were taken, one per gradient
def average_weights(step, w, states, gradients):
    results = [step(w, g, state) for g, state in zip(gradients, states, strict=True)]
    return np.mean([new for new, _ in results], axis=0), [state for _, state in results]


def average_gradients(step, w, state, gradients):
    for g in gradients:
        w, state = step(w, g / len(gradients), state)
    return w, state
