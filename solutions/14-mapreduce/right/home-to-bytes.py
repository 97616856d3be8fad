# task: home
def word_key(word):
    return int(np.uint32(zlib.crc32(word.encode("utf-8"))))


def home(keys, N):
    homes = np.zeros(len(keys), int)
    for i, key in enumerate(keys.tolist()):
        homes[i] = zlib.crc32(key.to_bytes(8, "little", signed=True)) % N
    return homes
