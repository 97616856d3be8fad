# task: two-ways
# loses: two-ways-check
# hint: the second worker went on from where the first one ended
def average_weights(step, w, states, gradients):
    ws, news = [], []
    for g, state in zip(gradients, states, strict=True):
        w, state = step(w, g, state)
        ws.append(w)
        news.append(state)
    return np.mean(ws, axis=0), news


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
