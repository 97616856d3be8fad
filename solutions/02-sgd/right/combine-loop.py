# task: combine
def combine(gradients, counts):

    total = np.zeros(len(gradients[0]))
    for part, count in zip(gradients, counts, strict=True):
        total += count / sum(counts) * part
    return total
