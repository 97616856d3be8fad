# task: threshold
# loses: threshold-check
# hint: a word has 32 bits
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    return [int(2 * i + (p[i] < 0)) for i in indices]


def read_threshold(message, tau, P):
    arrived = np.zeros(P, np.float32)
    arrived[message // 2] = np.where(message % 2, -tau, tau)
    return arrived
