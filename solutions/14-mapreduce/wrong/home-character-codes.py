# task: home
# loses: home-check
# hint: the character's code
def word_key(word):
    return sum(ord(letter) for letter in word)


def home(keys, N):
    return np.array([zlib.crc32(key.tobytes()) % N for key in keys], dtype=np.int64)
