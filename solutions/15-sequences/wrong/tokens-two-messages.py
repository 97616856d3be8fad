# task: tokens
# loses: tokens-check
# hint: Put the number of tokens into the same array
def mean_over_tokens(comm, total, n):
    tokens = parallel.all_reduce(comm, np.array([float(n)]))
    return parallel.all_reduce(comm, total) / tokens[0]
