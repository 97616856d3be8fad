# task: server-bytes
# loses: server-bytes-check
# hint: 480 bytes; yours gives
def server_bytes(N, n):
    return N * (N - 1) * n
