# task: run-again
# loses: run-again-check
# hint: portions are left: raise RuntimeError
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            return results
        done, dead = attempt({worker: left[i :: len(alive)] for i, worker in enumerate(alive)})
        results.update(done)
        alive = [worker for worker in alive if worker not in dead]
    return results
