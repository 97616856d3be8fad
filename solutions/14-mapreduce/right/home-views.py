# task: home
def word_key(word):
    return zlib.crc32(bytes(word, "utf-8"))


def home(keys, N):
    return np.fromiter((zlib.crc32(keys[i : i + 1]) % N for i in range(len(keys))), np.int64)
