# task: threshold
# loses: threshold-check
# hint: the sign is in the highest bit
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    return (indices + 2**31 * (p[indices] < 0)).astype(np.uint32)


def read_threshold(message, tau, P):
    arrived = np.zeros(P, np.float32)
    arrived[message // 2] = np.where(message % 2, -tau, tau)
    return arrived
