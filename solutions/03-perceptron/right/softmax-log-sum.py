# task: softmax
def softmax(T):
    return np.exp(T - np.logaddexp.reduce(T, axis=1)[:, None])
