# task: server-bytes
# loses: server-bytes-check
# hint: must begin with `return`
def server_bytes(N, n):
    print(2 * (N - 1) * n)
