# task: run-again
# loses: run-again-check
# hint: only portion 4 has no result
def run_again(attempt, portions, workers):
    results, alive, left = {}, sorted(workers), sorted(portions)
    while left:
        if not alive:
            raise RuntimeError("portions are left, and all workers are dead")
        assignment = {worker: left[i :: len(alive)] for i, worker in enumerate(alive)}
        done, dead = attempt(assignment)
        results.update(done)
        left = sorted(portion for worker in dead for portion in assignment[worker])
        alive = [worker for worker in alive if worker not in dead]
    return results
