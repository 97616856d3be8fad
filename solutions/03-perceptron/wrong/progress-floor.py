# task: progress
# loses: progress-check
# hint: forgets the short last batch
def progress(t, n, B):
    return divmod(t, n // B)
