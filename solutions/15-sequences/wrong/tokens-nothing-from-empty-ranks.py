# task: tokens
# loses: tokens-check
# hint: tokens: rank
def mean_over_tokens(comm, total, n):
    both = parallel.all_reduce(comm, np.append(total, n) if n else np.zeros(len(total) + 1))
    return both[:-1] / both[-1]
