# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: added everything into one number
def gradient_on_engines(engines, part, theta, shards):
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    parts = engines.map_sync(part, [theta] * len(shards), xs, ys)
    return np.sum(parts)
