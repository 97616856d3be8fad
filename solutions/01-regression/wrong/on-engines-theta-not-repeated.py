# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: so pass a list with one theta per engine
def gradient_on_engines(engines, part, theta, shards):
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    parts = engines.map_sync(part, theta, xs, ys)
    return np.sum(parts, axis=0)
