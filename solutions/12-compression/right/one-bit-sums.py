# task: one-bit
def one_bit(p):
    bits, number = np.packbits(p > 0), np.count_nonzero(p > 0)
    high = np.maximum(p, 0).sum(dtype=float) / max(number, 1)
    low = np.minimum(p, 0).sum(dtype=float) / max(len(p) - number, 1)
    message = np.empty(len(bits) + 8, np.uint8)
    message[:-8] = bits
    message[-8:] = np.array([high, low], "float32").view("uint8")
    return message


def read_one_bit(message, P):
    high, low = message[-8:].copy().view(np.float32)
    return np.array([low, high])[np.unpackbits(message[:-8])[:P]]
