# task: run-again
# loses: run-again-check
# hint: workers that live
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        if results:
            alive = alive[:1]
        done, dead = attempt({worker: left[i :: len(alive)] for i, worker in enumerate(alive)})
        results.update(done)
        alive = [worker for worker in alive if worker not in dead]
    return results
