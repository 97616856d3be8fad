# task: record
# loses: record-check
# hint: Copy what your run printed
def record():
    seeds = [21, 22, 23, 24, 25]
    errors = {
        "small batch": [8.2, 7.5, 9.2, 7.2, 8.6],
        "not scaled": [12.4, 10.7, 13.7, 12.7, 12.4],
        "no warm-up": [91.4, 91.4, 91.0, 91.2, 90.8],
        "constant warm-up": [91.4, 9.2, 8.2, 8.5, 48.6],
        "gradual warm-up": [8.4, 8.5, 8.3, 7.1, 8.7],
    }
    return seeds, errors
