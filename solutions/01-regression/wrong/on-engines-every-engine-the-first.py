# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: every engine computed the first shard
def gradient_on_engines(engines, part, theta, shards):
    x, y = shards[0]
    parts = engines.apply_sync(part, theta, x, y)
    return np.sum(parts, axis=0)
