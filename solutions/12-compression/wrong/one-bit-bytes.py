# task: one-bit
# loses: one-bit-check
# hint: each bit takes a whole byte
def one_bit(p):
    above = p > 0
    means = [group.mean() if len(group) else 0 for group in (p[above], p[~above])]
    return np.concatenate([above.astype(np.uint8), np.array(means, np.float32).view(np.uint8)])


def read_one_bit(message, P):
    above = np.unpackbits(message[:-8], count=P)
    means = message[-8:].copy().view(np.float32)
    return np.where(above, means[0], means[1])
