# task: run-again
# loses: run-again-check
# hint: is dead and got portions again
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        done, dead = attempt({worker: left[i :: len(alive)] for i, worker in enumerate(alive)})
        results.update(done)
        alive = [*alive[1:], alive[0]] if dead else alive
    return results
