# task: run-again
def run_again(attempt, portions, workers):
    finished = {}
    living = set(workers)
    while True:
        missing = [portion for portion in sorted(portions) if portion not in finished]
        if not missing:
            return finished
        if not living:
            raise RuntimeError(f"no worker is left for {missing}")
        team = sorted(living)
        assignment = {}
        for i, portion in enumerate(missing):
            assignment.setdefault(team[i % len(team)], []).append(portion)
        results, dead = attempt(assignment)
        finished = {**finished, **results}
        living -= set(dead)
