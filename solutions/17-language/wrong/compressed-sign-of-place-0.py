# task: compressed
# loses: compressed-check
# hint: It has to be shorter
def compressed_mean(comm, g, residual):
    """(the mean over all ranks of what arrived, the new residual): float32, shape (P,).

    g: this rank's gradient, residual: what it has not sent yet; float32, shape (P,), P >= 1. Each rank sends at most
    0.75 P words of 4 bytes to three other ranks together, for P >= 1,000.
    """
    p = g + residual
    room = max(1, len(p) // 16)
    places = np.argsort(-np.abs(p))[:room].astype(np.int32)
    step = np.abs(p[places]).mean()
    message = np.append(np.where(p[places] > 0, places, -places), np.float32(step).view(np.int32)).astype(np.int32)
    decoded = []
    for each in language.exchange(comm, message):
        arrived, words, length = np.zeros_like(p), each[:-1], each[-1:].view(np.float32)[0]
        arrived[np.where(words < 0, -words, words)] = np.where(words < 0, -length, length)
        decoded.append(arrived)
    return sum(decoded) / np.float32(comm.size), p - decoded[comm.rank]
