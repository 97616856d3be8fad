# task: home
# loses: home-check
# hint: the homes are int64, but yours are int32
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int32)
