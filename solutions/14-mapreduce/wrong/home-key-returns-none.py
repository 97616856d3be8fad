# task: home
# loses: home-check
# hint: word_key returned None
def word_key(word):
    zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
