# task: threshold
# loses: threshold-check
# hint: an empty uint32 array
def threshold(p, tau):
    indices = np.flatnonzero(np.abs(p) > tau)
    if len(indices) == 0:
        return np.zeros(1, np.uint32)
    return (2 * indices + (p[indices] < 0)).astype(np.uint32)


def read_threshold(message, tau, P):
    arrived = np.zeros(P, np.float32)
    arrived[message // 2] = np.where(message % 2, -tau, tau)
    return arrived
