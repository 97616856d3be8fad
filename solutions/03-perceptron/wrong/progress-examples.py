# task: progress
# loses: progress-check
# hint: counts examples
def progress(t, n, B):
    return divmod(t * B, n)
