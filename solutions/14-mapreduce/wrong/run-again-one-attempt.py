# task: run-again
# loses: run-again-check
# hint: Portions without a result are handed out again
def run_again(attempt, portions, workers):
    workers = sorted(workers)
    return attempt({worker: sorted(portions)[i :: len(workers)] for i, worker in enumerate(workers)})[0]
