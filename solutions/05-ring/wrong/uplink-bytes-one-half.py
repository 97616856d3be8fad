# task: uplink-bytes
# loses: uplink-bytes-check
# hint: one half. Reduce-scatter
def uplink_bytes(N, P, n):
    return P * (N - P) * n / N
