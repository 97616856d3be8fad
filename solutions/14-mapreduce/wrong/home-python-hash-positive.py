# task: home
# loses: home-check
# hint: Does it come from Python's hash
def word_key(word):
    return hash(word) % 2**32 + 2**32


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
