# task: one-bit
# loses: one-bit-check
# hint: what arrives is float32
def one_bit(p):
    above = p > 0
    means = [group.mean() if len(group) else 0 for group in (p[above], p[~above])]
    return np.concatenate([np.packbits(above), np.array(means, np.float32).view(np.uint8)])


def read_one_bit(message, P):
    above = np.unpackbits(message[:-8], count=P)
    means = message[-8:].copy().view(np.float32)
    return np.where(above, float(means[0]), float(means[1]))
