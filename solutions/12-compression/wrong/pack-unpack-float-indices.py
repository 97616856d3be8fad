# task: pack
# loses: pack-check
# hint: the indices are int32
def pack(indices, values):
    return np.concatenate([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k].astype(np.float32), message[k:].view(np.float32)
