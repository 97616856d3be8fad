# task: progress
# loses: progress-check
# hint: leave out the short last batch
def progress(t, n, B):
    return divmod(t, n // B)
