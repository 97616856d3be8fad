# task: home
# loses: home-check
# hint: the homes of 0, 4, 8, 12
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(key.byteswap().tobytes()) % N for key in keys], dtype=np.int64)
