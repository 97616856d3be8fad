# task: record
# loses: record-check
# hint: has 1 numbers
def record():
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [8.1],
        "not scaled": [12.4],
        "no warm-up": [91.2],
        "constant warm-up": [33.2],
        "gradual warm-up": [8.2],
    }
    return seeds, errors
