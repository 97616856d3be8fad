# task: server-bytes
# loses: server-bytes-check
# hint: returned None
def server_bytes(N, n):
    print(2 * (N - 1) * n)
