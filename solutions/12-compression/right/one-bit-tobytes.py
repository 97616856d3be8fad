# task: one-bit
def one_bit(p):
    above = p > 0
    high = p[above].mean() if above.any() else np.float32(0)
    low = p[~above].mean() if not above.all() else np.float32(0)
    data = np.packbits(above).tobytes() + np.float32(high).tobytes() + np.float32(low).tobytes()
    return np.frombuffer(data, np.uint8)


def read_one_bit(message, P):
    high, low = np.frombuffer(message.tobytes()[-8:], np.float32)
    arrived = np.full(P, low, np.float32)
    arrived[np.unpackbits(message)[:P] == 1] = high
    return arrived
