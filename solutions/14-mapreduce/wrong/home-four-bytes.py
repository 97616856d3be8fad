# task: home
# loses: home-check
# hint: also negative keys
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return np.array([zlib.crc32(int(key % 2**62).to_bytes(8, "little")) % N for key in keys], dtype=np.int64)
