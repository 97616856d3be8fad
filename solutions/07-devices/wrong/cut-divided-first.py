# task: cut
# loses: cut-check
# hint: Multiply first: i * B // N
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    step = B // N
    return [(i * step, (i + 1) * step) for i in range(N)]
