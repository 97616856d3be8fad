# task: cut
# loses: cut-check
# hint: rows 12 and 13 are in no slice
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    step = B // N
    return [(i * step, (i + 1) * step) for i in range(N)]
