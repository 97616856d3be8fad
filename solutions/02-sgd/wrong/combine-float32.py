# task: combine
# loses: combine-check
# hint: returned float32
def combine(gradients, counts):
    weights = np.array(counts, dtype=np.float32) / np.float32(sum(counts))
    return weights @ np.array(gradients, dtype=np.float32)
