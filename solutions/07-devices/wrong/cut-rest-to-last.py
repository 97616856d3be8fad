# task: cut
# loses: cut-check
# hint: the last device has 5 rows
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    step = B // N
    return [(i * step, B if i == N - 1 else (i + 1) * step) for i in range(N)]
