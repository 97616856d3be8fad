# task: on-engines
def gradient_on_engines(engines, part, theta, shards):
    pending = [engines.client[k].apply_async(part, theta, *shards[k]) for k in range(len(shards))]
    total = np.zeros(2)
    for result in pending:
        total = total + result.get()
    return total
