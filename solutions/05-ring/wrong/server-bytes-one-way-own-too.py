# task: server-bytes
# loses: server-bytes-check
# hint: needs no message
def server_bytes(N, n):
    return N * n
