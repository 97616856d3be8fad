# task: threshold
# loses: threshold-check
# hint: P = 4 entries
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    return (2 * indices + (p[indices] < 0)).astype(np.uint32)


def read_threshold(message, tau, P):
    arrived = np.zeros(message.max() // 2 + 1, np.float32)
    arrived[message // 2] = np.where(message % 2, -tau, tau)
    return arrived
