# task: average
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    packed = np.concatenate([(gradient * rows).ravel() for gradient in gradients] + [[rows]])
    total = all_reduce(comm, packed)
    averages, start = [], 0
    for gradient in gradients:
        averages.append((total[start : start + gradient.size] / total[-1]).reshape(gradient.shape))
        start += gradient.size
    return averages
