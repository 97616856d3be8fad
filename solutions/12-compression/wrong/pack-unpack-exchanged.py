# task: pack
# loses: pack-check
# hint: unpack should return
def pack(indices, values):
    return np.concatenate([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[k:].view(np.float32).astype(np.int32), message[:k].astype(np.float32)
