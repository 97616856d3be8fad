# task: server-bytes
def server_bytes(N, n):
    incoming = sum(n for rank in range(1, N))
    return incoming + incoming
