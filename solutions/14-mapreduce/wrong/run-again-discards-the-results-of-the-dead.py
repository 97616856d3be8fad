# task: run-again
# loses: run-again-check
# hint: only portion 4 has no result
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        done, dead = attempt({worker: left[i :: len(alive)] for i, worker in enumerate(alive)})
        lost = {each for i, worker in enumerate(alive) if worker in dead for each in left[i :: len(alive)]}
        results.update({portion: result for portion, result in done.items() if portion not in lost})
        alive = [worker for worker in alive if worker not in dead]
    return results
