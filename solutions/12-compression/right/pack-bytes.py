# task: pack
def pack(indices, values):
    return np.frombuffer(indices.tobytes() + values.tobytes(), dtype=np.int32)


def unpack(message):
    data = message.tobytes()
    return np.frombuffer(data[: len(data) // 2], np.int32), np.frombuffer(data[len(data) // 2 :], np.float32)
