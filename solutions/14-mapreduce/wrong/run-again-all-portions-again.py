# task: run-again
# loses: run-again-check
# hint: only portion 4 has no result
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while len(results) < len(portions):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        done, dead = attempt({worker: sorted(portions)[i :: len(alive)] for i, worker in enumerate(alive)})
        results.update(done)
        alive = [worker for worker in alive if worker not in dead]
    return results
