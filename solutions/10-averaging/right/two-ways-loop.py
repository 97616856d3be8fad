# task: two-ways
def average_weights(step, w, states, gradients):
    total, news = np.zeros_like(w), []
    for g, state in zip(gradients, states, strict=True):
        own, state = step(w, g, state)
        total = total + own
        news.append(state)
    return total / len(states), news


def average_gradients(step, w, state, gradients):
    g = sum(gradients) / len(gradients)
    w, state = step(w, g, state)
    return w, state
