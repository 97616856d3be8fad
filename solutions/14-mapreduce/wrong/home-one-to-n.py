# task: home
# loses: home-check
# hint: a home is a rank
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N + 1 for key in keys], dtype=np.int64)
