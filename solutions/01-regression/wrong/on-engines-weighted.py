# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: add them without weights
def gradient_on_engines(engines, part, theta, shards):
    xs = [x for x, y in shards]
    ys = [y for x, y in shards]
    parts = engines.map_sync(part, [theta] * len(shards), xs, ys)
    n = sum(len(x) for x in xs)
    return sum(len(x) / n * p for x, p in zip(xs, parts, strict=True))
