# task: record
# loses: record-check
# hint: without warm-up the networks are thrown out
def record():
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [8.2, 7.5, 9.2, 7.2, 8.6],
        "not scaled": [12.4, 10.7, 13.7, 12.7, 12.4],
        "no warm-up": [8.4, 8.5, 8.3, 7.1, 8.7],
        "constant warm-up": [91.4, 9.2, 8.2, 8.5, 48.6],
        "gradual warm-up": [91.4, 91.4, 91.0, 91.2, 90.8],
    }
    return seeds, errors
