# task: pack
# loses: pack-check
# hint: the values come first
def pack(indices, values):
    return np.concatenate([values.view(np.int32), indices])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
