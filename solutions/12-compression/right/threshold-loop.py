# task: threshold
def threshold(p, tau):
    words = []
    for index, entry in enumerate(p):
        if entry > tau:
            words.append(2 * index)
        elif entry < -tau:
            words.append(2 * index + 1)
    return np.array(words, dtype=np.uint32)


def read_threshold(message, tau, P):
    arrived = np.zeros(P, dtype=np.float32)
    for word in message.tolist():
        arrived[word >> 1] = -tau if word & 1 else tau
    return arrived
