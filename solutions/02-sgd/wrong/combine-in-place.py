# task: combine
# loses: combine-check
# hint: changes `gradients`
def combine(gradients, counts):
    total = gradients[0]
    total *= counts[0]
    for part, count in zip(gradients[1:], counts[1:], strict=True):
        total += count * part
    return total / sum(counts)
