# task: uplink-bytes
# loses: uplink-bytes-check
# hint: yours counts whole arrays
def uplink_bytes(N, P, n):
    return 2 * P * (N - P) * n
