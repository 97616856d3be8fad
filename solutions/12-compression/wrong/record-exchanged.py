# task: record
# loses: record-check
# hint: are the two lists exchanged
def record():
    seeds = [21, 22, 23, 24, 25]
    errors = {
        "dense": [10.51, 10.18, 10.29, 10.18, 8.3],
        "top-k, residual": [17.15, 16.48, 16.15, 16.59, 15.71],
        "top-k": [10.73, 10.29, 11.06, 10.4, 10.18],
    }
    verdicts = {"top-k": "worse", "top-k, residual": "undecided"}
    return seeds, errors, verdicts
