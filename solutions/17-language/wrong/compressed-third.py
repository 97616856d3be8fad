# task: compressed
# loses: compressed-check
# hint: at most 1,500 bytes per rank
def compressed_mean(comm, g, residual):
    """(the mean over all ranks of what arrived, the new residual): float32, shape (P,).

    g: this rank's gradient, residual: what it has not sent yet; float32, shape (P,), P >= 1. Each rank sends at most
    0.75 P words of 4 bytes to three other ranks together, for P >= 1,000.
    """
    p = g + residual
    k = max(1, len(p) // 10)
    places = np.argpartition(np.abs(p), len(p) - k)[-k:].astype(np.int32)
    total, kept = np.zeros_like(p), p.copy()
    for message in language.exchange(comm, np.concatenate([places, p[places].view(np.int32)])):
        where, values = np.split(message, 2)
        total[where] += values.view(np.float32)
    kept[places] = 0
    return total / comm.size, kept
