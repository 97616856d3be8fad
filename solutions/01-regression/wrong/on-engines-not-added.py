# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: this is the list of the four parts
def gradient_on_engines(engines, part, theta, shards):
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    return engines.map_sync(part, [theta] * len(shards), xs, ys)
