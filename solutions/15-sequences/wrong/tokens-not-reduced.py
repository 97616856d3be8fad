# task: tokens
# loses: tokens-check
# hint: by hand the gradient is 2.5
def mean_over_tokens(comm, total, n):
    return total / max(n, 1)
