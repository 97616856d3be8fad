# task: compressed
# loses: compressed-check
# hint: nothing arrives
def compressed_mean(comm, g, residual):
    """(the mean over all ranks of what arrived, the new residual): float32, shape (P,).

    g: this rank's gradient, residual: what it has not sent yet; float32, shape (P,), P >= 1. Each rank sends at most
    0.75 P words of 4 bytes to three other ranks together, for P >= 1,000.
    """
    p = g + residual
    above = p > 1
    middles = [p[side].mean() if side.any() else 0 for side in (above, ~above)]
    message = np.concatenate([np.packbits(above), np.array(middles, np.float32).view(np.uint8)])
    total = np.zeros_like(p)
    for each in language.exchange(comm, message):
        high, low = each[-8:].copy().view(np.float32)
        arrived = np.where(np.unpackbits(each[:-8], count=len(p)), high, low)
        total += arrived
        if each is message:
            kept = p - arrived
    return total / np.float32(comm.size), kept
