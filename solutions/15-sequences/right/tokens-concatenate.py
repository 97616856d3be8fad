# task: tokens
def mean_over_tokens(comm, total, n):
    summed = parallel.all_reduce(comm, np.concatenate([total, [float(n)]]))
    *gradient, tokens = summed.tolist()
    return np.array([each / tokens for each in gradient])
