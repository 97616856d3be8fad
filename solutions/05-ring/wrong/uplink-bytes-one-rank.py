# task: uplink-bytes
# loses: uplink-bytes-check
# hint: bytes were counted; yours
def uplink_bytes(N, P, n):
    return 4 * (N - P) * n / N
