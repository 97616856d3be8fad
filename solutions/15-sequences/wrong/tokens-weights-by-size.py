# task: tokens
# loses: tokens-check
# hint: by hand the gradient is 2.5
def mean_over_tokens(comm, total, n):
    """The gradient of the mean over all ranks' tokens, shape (P,), the same on all ranks.

    total: the sum of the gradients of this rank's tokens, shape (P,). n: how many tokens this rank has; it may be 0,
    but not on all ranks. Communicate by one parallel.all_reduce.
    """
    sums = parallel.all_reduce(comm, np.append(n * total, n))
    return sums[:-1] / sums[-1]
