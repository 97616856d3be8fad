# task: pack
# loses: pack-check
# hint: one array of 4 words
def pack(indices, values):
    return np.stack([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
