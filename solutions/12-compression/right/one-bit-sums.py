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
    low_and_high = message[-8:].view(np.float32)[::-1] if message[-8:].flags.aligned else None
    if low_and_high is None:
        low_and_high = message[-8:].copy().view(np.float32)[::-1]
    return low_and_high[np.unpackbits(message[: (P + 7) // 8], count=P)]
