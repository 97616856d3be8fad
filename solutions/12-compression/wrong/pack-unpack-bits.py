# task: pack
# loses: pack-check
# hint: the values are float32 again
def pack(indices, values):
    return np.concatenate([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:]
