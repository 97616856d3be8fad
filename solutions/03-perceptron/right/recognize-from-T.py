# task: recognize
def recognize(weights, X, sigma, forward, softmax):
    _, _, T, _ = forward(weights, X, sigma, softmax)
    return T.argmax(axis=1)
