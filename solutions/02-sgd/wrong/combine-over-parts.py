# task: combine
# loses: combine-check
# hint: over all examples by the number of parts
def combine(gradients, counts):

    return sum(count * part for part, count in zip(gradients, counts, strict=True)) / len(counts)
