# task: on-engines
# loses: on-engines-check
# hint: was called by the engines
def gradient_on_engines(engines, part, theta, shards):
    return sum(engines.client[0].apply_sync(part, theta, x, y) for x, y in shards)
