# task: progress
# loses: progress-check
# hint: progress returns two numbers
def progress(t, n, B):
    return t // -(-n // B)
