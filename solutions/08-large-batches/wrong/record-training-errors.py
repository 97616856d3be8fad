# task: record
# loses: record-check
# hint: that is the training error
def record():
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [0.1, 0.1, 0.3, 0.0, 0.2],
        "not scaled": [2.1, 1.8, 3.2, 3.2, 2.8],
        "no warm-up": [89.6, 89.5, 89.6, 89.7, 89.4],
        "constant warm-up": [89.7, 3.1, 1.0, 1.3, 46.8],
        "gradual warm-up": [0.8, 0.3, 0.1, 0.2, 0.1],
    }
    return seeds, errors
