# task: threshold
# loses: threshold-check
# hint: an odd word is for -tau
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    return (2 * indices + (p[indices] < 0)).astype(np.uint32)


def read_threshold(message, tau, P):
    arrived = np.zeros(P, np.float32)
    arrived[message // 2] = np.where(message % 2, tau, -tau)
    return arrived
