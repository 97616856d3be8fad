# task: server-bytes
# loses: server-bytes-check
# hint: Both pass through the server
def server_bytes(N, n):
    return (N - 1) * n
