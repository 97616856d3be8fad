# task: pack
# loses: pack-check
# hint: the message is int32
def pack(indices, values):
    return np.concatenate([indices, values.view(np.int32)]).view(np.float32)


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
