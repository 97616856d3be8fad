# task: pack
def pack(indices, values):
    k = len(indices)
    message = np.empty(2 * k, np.int32)
    message[:k] = indices
    message.view(np.float32)[k:] = values
    return message


def unpack(message):
    indices, bits = np.split(message, 2)
    return indices.copy(), bits.copy().view("float32")
