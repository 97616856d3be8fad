# task: cut
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    pairs, begin = [], 0
    for i in range(1, N + 1):
        pairs.append((begin, B * i // N))
        begin = B * i // N
    return pairs
