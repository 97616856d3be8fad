# task: recognize
def recognize(weights, X, sigma, forward, softmax):
    V, Z, T, f = forward(weights, X, sigma, softmax)
    return [int(np.argmax(row)) for row in f]
