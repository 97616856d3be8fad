# task: uplink-bytes
# loses: uplink-bytes-check
# hint: include the messages inside
def uplink_bytes(N, P, n):
    return 2 * P * (N - 1) * n / N
