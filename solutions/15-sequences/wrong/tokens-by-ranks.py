# task: tokens
# loses: tokens-check
# hint: 5 is the sum divided by
def mean_over_tokens(comm, total, n):
    """The gradient of the mean over all ranks' tokens, shape (P,), the same on all ranks.

    total: the sum of the gradients of this rank's tokens, shape (P,). n: how many tokens this rank has; it may be 0,
    but not on all ranks. Communicate by one parallel.all_reduce.
    """
    sums = parallel.all_reduce(comm, np.append(total, n))
    return sums[:-1] / comm.size
