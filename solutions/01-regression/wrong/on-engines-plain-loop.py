# task: on-engines
# loses: on-engines-check, on-engines-engel-check
# hint: the notebook itself called
def gradient_on_engines(engines, part, theta, shards):
    return sum(part(theta, x, y) for x, y in shards)
