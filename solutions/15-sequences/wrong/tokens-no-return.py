# task: tokens
# loses: tokens-check
# hint: mean_over_tokens returned None
def mean_over_tokens(comm, total, n):
    """The gradient of the mean over all ranks' tokens, shape (P,), the same on all ranks.

    total: the sum of the gradients of this rank's tokens, shape (P,). n: how many tokens this rank has; it may be 0,
    but not on all ranks. Communicate by one parallel.all_reduce.
    """
    sums = parallel.all_reduce(comm, np.append(total, n))
    result = sums[:-1] / sums[-1]
