# task: tokens
# loses: tokens-check
# hint: changes `total`
def mean_over_tokens(comm, total, n):
    both = parallel.all_reduce(comm, np.append(total, n))
    total[:] = both[:-1] / both[-1]
    return total.copy()
