# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: only the first shard
def gradient_on_engines(engines, part, theta, shards):
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    parts = engines.map_sync(part, [theta] * len(shards), xs, ys)
    return parts[0]
