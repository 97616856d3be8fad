# task: uplink-bytes
def uplink_bytes(N, P, n):
    chunk, outside = n / N, N - P
    return sum(outside * chunk for _ in range(P)) * 2
