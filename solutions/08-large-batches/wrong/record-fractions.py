# task: record
# loses: record-check
# hint: these are fractions
def record():
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [0.082, 0.075, 0.092, 0.072, 0.086],
        "not scaled": [0.124, 0.107, 0.137, 0.127, 0.124],
        "no warm-up": [0.914, 0.914, 0.91, 0.912, 0.908],
        "constant warm-up": [0.914, 0.092, 0.082, 0.085, 0.486],
        "gradual warm-up": [0.084, 0.085, 0.083, 0.071, 0.087],
    }
    return seeds, errors
