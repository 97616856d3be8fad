# task: home
# loses: home-check
# hint: 100 keys have 100 homes
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(keys.tobytes()) % N], dtype=np.int64)
