# task: pack
# loses: pack-check
# hint: the bits were converted
def pack(indices, values):
    return np.concatenate([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].astype(np.float32)
