# task: cut
# loses: cut-check
# hint: returned the five edges
def cut(B, N):
    """Where each of N slices of B rows begins and ends: a list of N pairs (begin, end)."""
    return [i * B // N for i in range(N + 1)]
