# task: progress
# loses: progress-check
# hint: begins again at 0
def progress(t, n, B):
    return (t // -(-n // B), t)
