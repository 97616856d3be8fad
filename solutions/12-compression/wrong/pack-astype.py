# task: pack
# loses: pack-check
# hint: rounded to whole numbers
def pack(indices, values):
    return np.concatenate([indices, values.astype(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
