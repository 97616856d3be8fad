# task: on-engines
def gradient_on_engines(engines, part, theta, shards):
    return sum(engines.map_sync(lambda shard: part(theta, shard[0], shard[1]), shards))
