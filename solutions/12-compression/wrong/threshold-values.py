# task: threshold
# loses: threshold-check
# hint: the message is [0, 5]
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    return p[indices]


def read_threshold(message, tau, P):
    arrived = np.zeros(P, np.float32)
    arrived[message // 2] = np.where(message % 2, -tau, tau)
    return arrived
