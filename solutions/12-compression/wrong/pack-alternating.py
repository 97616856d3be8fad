# task: pack
# loses: pack-check
# hint: indices and values alternate
def pack(indices, values):
    return np.stack([indices, values.view(np.int32)], axis=1).ravel()


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
