# task: run-again
def run_again(attempt, portions, workers):
    if not portions:
        return {}
    if not workers:
        raise RuntimeError("all workers are dead")
    left, team = sorted(portions), sorted(workers)
    done, dead = attempt({worker: left[i :: len(team)] for i, worker in enumerate(team)})
    rest = [each for each in left if each not in done]
    return done | run_again(attempt, rest, [worker for worker in team if worker not in dead])
