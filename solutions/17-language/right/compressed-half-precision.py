# task: compressed
def compressed_mean(comm, g, residual):
    """(the mean over all ranks of what arrived, the new residual): float32, shape (P,).

    g: this rank's gradient, residual: what it has not sent yet; float32, shape (P,), P >= 1. Each rank sends at most
    0.75 P words of 4 bytes to three other ranks together, for P >= 1,000.
    """
    p = g + residual
    k = max(1, len(p) // 20)
    places = np.argsort(np.abs(p))[-k:]
    top = max(float(np.abs(p).max()), 1e-30)
    small = np.zeros_like(p)
    small[places] = np.round(p[places] / top * 127)
    head = np.float32(top).reshape(1).view(np.uint8)
    body = small[places].astype(np.int8).view(np.uint8)
    message = np.concatenate([head, places.astype(np.int32).view(np.uint8), body])
    parts = []
    for each in language.exchange(comm, message):
        count = (len(each) - 4) // 5
        where = each[4 : 4 + 4 * count].copy().view(np.int32)
        arrived = np.zeros_like(p)
        arrived[where] = each[:4].copy().view(np.float32)[0] / 127 * each[4 + 4 * count :].view(np.int8)
        parts.append(arrived)
    return np.mean(parts, axis=0, dtype=np.float32), p - parts[comm.rank]
