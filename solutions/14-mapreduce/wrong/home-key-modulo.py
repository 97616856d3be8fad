# task: home
# loses: home-check
# hint: all of them are on rank 0
def word_key(word):
    return zlib.crc32(word.encode())


def home(keys, N):
    return keys % N
