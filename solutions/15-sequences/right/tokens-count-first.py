# task: tokens
def mean_over_tokens(comm, total, n):
    message = np.empty(total.size + 1)
    message[0], message[1:] = n, total
    message = parallel.all_reduce(comm, message)
    return message[1:] / message[0]
