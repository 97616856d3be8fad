# task: progress
# loses: progress-check
# hint: the other way round
def progress(t, n, B):
    return divmod(t, -(-n // B))[::-1]
