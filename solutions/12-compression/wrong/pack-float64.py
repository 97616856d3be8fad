# task: pack
# loses: pack-check
# hint: the message is float64
def pack(indices, values):
    return np.concatenate([indices, values])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
