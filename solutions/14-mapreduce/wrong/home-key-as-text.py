# task: home
# loses: home-check
# hint: the key as text
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(str(key).encode()) % N for key in keys], dtype=np.int64)
