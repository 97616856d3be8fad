# task: combine
# loses: combine-check
# hint: divide it by B = 4
def combine(gradients, counts):

    return sum(count * part for part, count in zip(gradients, counts, strict=True))
