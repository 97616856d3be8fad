# task: cut
# loses: cut-check
# hint: does not contain row `end`
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    return [(i * B // N, (i + 1) * B // N - 1) for i in range(N)]
