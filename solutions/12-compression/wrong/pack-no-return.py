# task: pack
# loses: pack-check
# hint: pack returned None
def pack(indices, values):
    np.concatenate([indices, values.view(np.int32)])


def unpack(message):
    k = len(message) // 2
    return message[:k], message[k:].view(np.float32)
