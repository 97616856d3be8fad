# task: run-again
# loses: run-again-check
# hint: are handed out in turn to the workers
def run_again(attempt, portions, workers):
    results, alive = {}, sorted(workers)
    while left := sorted(set(portions) - set(results)):
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        done, dead = attempt(
            {worker: [int(each) for each in np.array_split(left, len(alive))[i]] for i, worker in enumerate(alive)}
        )
        results.update(done)
        alive = [worker for worker in alive if worker not in dead]
    return results
