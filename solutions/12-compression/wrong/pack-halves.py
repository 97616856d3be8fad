# task: pack
# loses: pack-check
# hint: some bits have changed
def pack(indices, values):
    return np.concatenate([indices, values.astype(np.float16).astype(np.float32).view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
