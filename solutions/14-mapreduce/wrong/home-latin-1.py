# task: home
# loses: home-check
# hint: in UTF-8
def word_key(word):
    return zlib.crc32(word.encode("latin-1"))


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
