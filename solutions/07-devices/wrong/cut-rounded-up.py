# task: cut
# loses: cut-check
# hint: the formula rounds down
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    edges = [-(-i * B // N) for i in range(N + 1)]
    return [(edges[i], edges[i + 1]) for i in range(N)]
