# task: rnn
def rnn(x, W, U, b, h0):
    z = np.einsum("tri,iu->tru", x, W) + b
    states, h = [h0.copy()], h0
    for part in z:
        h = np.tanh(part + np.einsum("ru,uv->rv", h, U))
        states.append(h)
    return np.stack(states)
