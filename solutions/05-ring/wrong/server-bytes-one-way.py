# task: server-bytes
# loses: server-bytes-check
# hint: only what comes in, or only what goes out
def server_bytes(N, n):
    return (N - 1) * n
