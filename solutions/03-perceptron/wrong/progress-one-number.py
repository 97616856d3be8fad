# task: progress
# loses: progress-check
# hint: two numbers come back
def progress(t, n, B):
    return t // -(-n // B)
