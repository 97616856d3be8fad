# task: two-ways
def average_weights(step, w, states, gradients):
    ws, news = zip(*map(step, [w] * len(states), gradients, states), strict=True)
    return sum(ws) / len(ws), list(news)


def average_gradients(step, w, state, gradients):
    return step(w, np.mean(gradients, axis=0), state)
