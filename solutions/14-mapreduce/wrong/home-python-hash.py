# task: home
# loses: home-check
# hint: Python's hash
def word_key(word):
    return hash(word)


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
