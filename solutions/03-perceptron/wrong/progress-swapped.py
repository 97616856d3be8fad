# task: progress
# loses: progress-check
# hint: (1, 2) has the two numbers the wrong way round
def progress(t, n, B):
    return divmod(t, -(-n // B))[::-1]
