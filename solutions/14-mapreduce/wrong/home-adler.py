# task: home
# loses: home-check
# hint: the crc32 of b'a'
def word_key(word):
    return zlib.adler32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
