# task: combine
# loses: combine-check
# hint: by the number of parts, not by n
def combine(gradients, counts):

    return sum(count * part for part, count in zip(gradients, counts, strict=True)) / len(counts)
