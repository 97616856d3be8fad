# task: threshold
def threshold(p, tau):
    (indices,) = np.nonzero((p > tau) | (p < -tau))
    return (indices.astype(np.uint32) << 1) | np.signbit(p[indices])


def read_threshold(message, tau, P):
    signs = 1 - 2 * (message & 1).astype(np.float32)
    arrived = np.zeros(P, np.float32)
    arrived[message >> 1] = np.float32(tau) * signs
    return arrived
