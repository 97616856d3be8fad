# task: tokens
# loses: tokens-check
# hint: 3 is the mean of the ranks
def mean_over_tokens(comm, total, n):
    return parallel.all_reduce(comm, total / max(n, 1)) / comm.size
