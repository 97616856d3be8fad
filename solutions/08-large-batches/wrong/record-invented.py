# task: record
# loses: record-check
# hint: Copy what your run printed
def record():
    seeds = [11, 12, 13, 14, 15]
    errors = {
        "small batch": [8.1, 7.9, 8.3, 8.0, 7.8],
        "not scaled": [12.0, 12.2, 11.9, 12.1, 12.3],
        "no warm-up": [90.0, 91.0, 90.5, 90.2, 91.0],
        "constant warm-up": [20.0, 30.0, 10.0, 9.0, 50.0],
        "gradual warm-up": [8.2, 8.0, 8.4, 8.1, 7.9],
    }
    return seeds, errors
