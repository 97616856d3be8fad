# task: home
# loses: home-check
# hint: home returned None
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
